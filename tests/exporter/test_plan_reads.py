"""Generic plans on real servers: seen, changed, skipped, and without any harm."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from lab.postgres import Postgres
from lab.process import wait_until

from .builders import Series, series
from .exporting import PG_UP, Exporter, exporting
from .workload import MONITOR, PASSWORD

pytestmark = pytest.mark.servers

FLAGS = ("--plans.enabled=true", "--plans.interval=100ms", "--plans.timeout=500ms")
QUERY = "SELECT * FROM orders WHERE id = 7"


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    with Postgres(getattr(request, "param", "17")) as running:
        running.execute(f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}'")
        running.execute(f"GRANT pg_read_all_stats TO {MONITOR}")
        running.execute("CREATE TABLE orders AS SELECT generate_series(1, 5000) AS id")
        running.execute("CREATE INDEX orders_id ON orders (id); ANALYZE orders")
        running.execute(f"GRANT SELECT ON orders TO {MONITOR}")
        running.execute("SELECT pg_stat_statements_reset()")
        running.execute(QUERY)
        yield running


@pytest.fixture
def exporter(server: Postgres) -> Iterator[Exporter]:
    with exporting(server.dsn_for(user=MONITOR, password=PASSWORD), *FLAGS) as running:
        yield running


def plans(found: dict[Series, float]) -> dict[str, str]:
    """Outline → plan id."""
    return {
        labels["plan"]: labels["plan_id"]
        for name, labels in ((name, dict(labels)) for name, labels in found)
        if name == "pg_stat_statements_plan_info"
    }


def comes(exporter: Exporter, what: Callable[[dict[Series, float]], object]) -> None:
    wait_until(
        lambda: bool(what(exporter.scrape())), seconds=15, what="a round of plans"
    )


def skipped(found: dict[Series, float], reason: str) -> float:
    return found.get(series("pgverdict_exporter_plans_skipped", reason=reason), 0)


def orders_plan(found: dict[Series, float]) -> set[str]:
    return {outline for outline in plans(found) if outline.endswith("orders")}


@pytest.mark.parametrize("server", ["16", "17", "18"], indirect=True)
def test_the_plan_in_force_is_shown_and_follows_a_lost_index(
    server: Postgres, exporter: Exporter
) -> None:
    comes(exporter, orders_plan)
    before = plans(exporter.scrape())
    server.execute("DROP INDEX orders_id")
    comes(exporter, lambda found: orders_plan(found) == {"Seq Scan orders"})
    after = plans(exporter.scrape())

    (indexed,) = (outline for outline in before if "orders" in outline)
    assert "orders_id" in indexed
    assert before[indexed] != after["Seq Scan orders"]


def test_tables_that_the_role_may_not_read_are_skipped(
    server: Postgres, exporter: Exporter
) -> None:
    server.execute(f"REVOKE ALL ON orders FROM {MONITOR}")

    comes(exporter, lambda found: skipped(found, "no_privilege"))
    assert not orders_plan(exporter.scrape())


def test_statements_of_other_databases_are_skipped(
    server: Postgres, exporter: Exporter
) -> None:
    server.execute("SELECT oid FROM pg_class", database="template1")

    comes(exporter, lambda found: skipped(found, "other_database"))


def test_tables_that_are_gone_are_skipped(server: Postgres, exporter: Exporter) -> None:
    server.execute("DROP TABLE orders")

    comes(exporter, lambda found: skipped(found, "not_found"))


@pytest.mark.parametrize(
    ("rule", "statement"),
    [
        ("INSERT TO ruled DO INSTEAD NOTHING", "INSERT INTO ruled VALUES (1)"),
        ("DELETE TO ruled DO INSTEAD NOTIFY x", "DELETE FROM ruled"),
    ],
)
def test_a_statement_of_which_a_rule_leaves_no_plan_costs_no_other_its_own(
    server: Postgres, exporter: Exporter, rule: str, statement: str
) -> None:
    server.execute(f"CREATE TABLE ruled (x int); GRANT ALL ON ruled TO {MONITOR}")
    server.execute(statement)
    server.execute(f"CREATE RULE r AS ON {rule}")

    comes(exporter, orders_plan)
    assert skipped(exporter.scrape(), "not_explainable")


def test_a_plan_of_hundreds_of_levels_costs_no_other_its_own(
    server: Postgres, exporter: Exporter
) -> None:
    levels = 600
    query = "SELECT * FROM ({}) x OFFSET 0"
    for _ in range(levels):
        query = query.format("SELECT * FROM ({}) x OFFSET 0")
    server.execute(query.format("TABLE orders"))

    comes(exporter, lambda found: skipped(found, "failed"))
    assert orders_plan(exporter.scrape())


def test_a_locked_table_costs_its_plan_and_no_scrape(
    server: Postgres, exporter: Exporter
) -> None:
    comes(exporter, orders_plan)
    with psycopg.connect(server.dsn) as other:
        other.execute("LOCK TABLE orders")
        comes(exporter, lambda found: skipped(found, "timeout"))
        found = exporter.scrape()

    assert found[PG_UP] == 1
    assert orders_plan(found)


def test_nothing_is_executed(server: Postgres, exporter: Exporter) -> None:
    server.execute("CREATE SEQUENCE s")
    server.execute(f"GRANT ALL ON SEQUENCE s TO {MONITOR}")
    server.execute("SELECT nextval('s')")
    ((before,),) = server.execute("SELECT last_value FROM s")

    comes(exporter, orders_plan)
    comes(exporter, lambda found: "Result" in plans(found))

    assert server.execute("SELECT last_value FROM s") == [(before,)]


def test_only_as_many_as_asked_for_are_explained(server: Postgres) -> None:
    for table in ("pg_class", "pg_type", "pg_proc", "pg_roles"):
        server.execute(f"TABLE {table}")
    dsn = server.dsn_for(user=MONITOR, password=PASSWORD)

    with exporting(dsn, *FLAGS, "--plans.number=2") as exporter:
        comes(exporter, lambda found: found[READ_AT] > 0)
        found = exporter.scrape()

    names = [name for name, _ in found if name == "pg_stat_statements_plan_info"]
    skips = [v for (name, _), v in found.items() if name.endswith("plans_skipped")]
    assert len(names) + sum(skips) == 2


READ_AT = series("pgverdict_exporter_plans_read_timestamp_seconds")


def test_an_older_server_is_told_apart() -> None:
    with Postgres("15") as server, exporting(server.dsn, *FLAGS) as exporter:
        comes(exporter, lambda found: skipped(found, "server_too_old"))


def test_without_asking_there_are_no_plans(server: Postgres) -> None:
    with exporting(server.dsn) as exporter:
        assert "plan" not in exporter.get().text.replace("_explain", "")
