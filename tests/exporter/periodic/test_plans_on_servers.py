"""Generic plans on real servers: shown, changed, skipped, and without any harm."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from lab.postgres import Postgres
from lab.process import wait_until

from ..builders import Series, series
from ..exporting import PG_UP, Exporter, exporting
from ..workload import MONITOR, PASSWORD

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


def plans(scraped: dict[Series, float]) -> dict[str, str]:
    """Outline → plan id."""
    return {
        labels["plan"]: labels["plan_id"]
        for name, labels in ((name, dict(labels)) for name, labels in scraped)
        if name == "pg_stat_statements_plan_info"
    }


def wait_for(
    exporter: Exporter, condition: Callable[[dict[Series, float]], object]
) -> None:
    wait_until(
        lambda: bool(condition(exporter.scrape())), seconds=15, what="a round of plans"
    )


def skipped(scraped: dict[Series, float], reason: str) -> float:
    return scraped.get(series("pgverdict_exporter_plans_skipped", reason=reason), 0)


def orders_plan(scraped: dict[Series, float]) -> set[str]:
    return {outline for outline in plans(scraped) if outline.endswith("orders")}


@pytest.mark.parametrize("server", ["16", "17", "18"], indirect=True)
def test_the_current_plan_is_shown_and_follows_a_dropped_index(
    server: Postgres, exporter: Exporter
) -> None:
    wait_for(exporter, orders_plan)
    before = plans(exporter.scrape())
    server.execute("DROP INDEX orders_id")
    wait_for(exporter, lambda scraped: orders_plan(scraped) == {"Seq Scan orders"})
    after = plans(exporter.scrape())

    (indexed,) = (outline for outline in before if "orders" in outline)
    assert "orders_id" in indexed
    assert before[indexed] != after["Seq Scan orders"]


def test_tables_that_the_role_may_not_read_are_skipped(
    server: Postgres, exporter: Exporter
) -> None:
    server.execute(f"REVOKE ALL ON orders FROM {MONITOR}")

    wait_for(exporter, lambda scraped: skipped(scraped, "no_privilege"))
    assert not orders_plan(exporter.scrape())


def test_statements_of_other_databases_are_skipped(
    server: Postgres, exporter: Exporter
) -> None:
    server.execute("SELECT oid FROM pg_class", database="template1")

    wait_for(exporter, lambda scraped: skipped(scraped, "other_database"))


def test_tables_that_are_gone_are_skipped(server: Postgres, exporter: Exporter) -> None:
    server.execute("DROP TABLE orders")

    wait_for(exporter, lambda scraped: skipped(scraped, "not_found"))


@pytest.mark.parametrize(
    ("rule", "statement"),
    [
        ("INSERT TO ruled DO INSTEAD NOTHING", "INSERT INTO ruled VALUES (1)"),
        ("DELETE TO ruled DO INSTEAD NOTIFY x", "DELETE FROM ruled"),
    ],
)
def test_a_statement_that_a_rule_leaves_without_a_plan_affects_no_other(
    server: Postgres, exporter: Exporter, rule: str, statement: str
) -> None:
    server.execute(f"CREATE TABLE ruled (x int); GRANT ALL ON ruled TO {MONITOR}")
    server.execute(statement)
    server.execute(f"CREATE RULE r AS ON {rule}")

    wait_for(exporter, orders_plan)
    assert skipped(exporter.scrape(), "not_explainable")


def test_a_plan_with_hundreds_of_levels_affects_no_other(
    server: Postgres, exporter: Exporter
) -> None:
    levels = 600
    query = "SELECT * FROM ({}) x OFFSET 0"
    for _ in range(levels):
        query = query.format("SELECT * FROM ({}) x OFFSET 0")
    server.execute(query.format("TABLE orders"))

    # Not in the same read, perhaps: on a busy machine the other one may run out of time
    # and is asked for again.
    wait_for(exporter, lambda scraped: skipped(scraped, "failed"))
    wait_for(exporter, orders_plan)


def test_a_locked_table_delays_its_plan_and_no_scrape(
    server: Postgres, exporter: Exporter
) -> None:
    wait_for(exporter, orders_plan)
    with psycopg.connect(server.dsn) as other:
        other.execute("LOCK TABLE orders")
        wait_for(exporter, lambda scraped: skipped(scraped, "timeout"))
        scraped = exporter.scrape()

    assert scraped[PG_UP] == 1
    assert orders_plan(scraped)


def test_nothing_is_executed(server: Postgres, exporter: Exporter) -> None:
    server.execute("CREATE SEQUENCE s")
    server.execute(f"GRANT ALL ON SEQUENCE s TO {MONITOR}")
    server.execute("SELECT nextval('s')")
    ((before,),) = server.execute("SELECT last_value FROM s")

    wait_for(exporter, orders_plan)
    wait_for(exporter, lambda scraped: "Result" in plans(scraped))

    assert server.execute("SELECT last_value FROM s") == [(before,)]


def test_only_the_configured_number_is_explained(server: Postgres) -> None:
    for table in ("pg_class", "pg_type", "pg_proc", "pg_roles"):
        server.execute(f"TABLE {table}")
    dsn = server.dsn_for(user=MONITOR, password=PASSWORD)

    with exporting(dsn, *FLAGS, "--plans.number=2") as exporter:
        wait_for(exporter, lambda scraped: scraped[READ_AT] > 0)
        scraped = exporter.scrape()

    names = [name for name, _ in scraped if name == "pg_stat_statements_plan_info"]
    skips = [v for (name, _), v in scraped.items() if name.endswith("plans_skipped")]
    assert len(names) + sum(skips) == 2


READ_AT = series("pgverdict_exporter_plans_read_timestamp_seconds")


def test_an_older_server_is_a_reason_of_its_own() -> None:
    with Postgres("15") as server, exporting(server.dsn, *FLAGS) as exporter:
        wait_for(exporter, lambda scraped: skipped(scraped, "server_too_old"))


def test_plans_are_off_by_default(server: Postgres) -> None:
    with exporting(server.dsn) as exporter:
        assert "plan" not in exporter.get().text.replace("_explain", "")
