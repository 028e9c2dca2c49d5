"""Objects that other roles may create are never used by the exporter's queries."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from lab.postgres import Postgres
from lab.process import wait_until

from ...builders import Series
from ...exporting import exporting, reasons
from ...workload import MONITOR, PASSWORD

pytestmark = pytest.mark.servers

# Each matches better than the one in pg_catalog that the queries mean.
TRAPS = (
    "CREATE FUNCTION trap(float8, int4) RETURNS float8 {body}",
    "CREATE OPERATOR / (FUNCTION = trap, LEFTARG = float8, RIGHTARG = int4)",
    "CREATE FUNCTION pg_has_role(text, text) RETURNS bool {body}",
    'CREATE FUNCTION "left"(text, int2) RETURNS text {body}',
)
PLANS = ("--plans.enabled=true", "--plans.interval=100ms", "--plans.number=99")
BODY = "IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RAISE 'caught %', current_user; END$$"


@pytest.fixture(params=["14", "18"])
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    """A server whose schema public is open to all, as it is by default up to 14."""
    with Postgres(request.param) as running:
        role = f"{MONITOR} LOGIN PASSWORD '{PASSWORD}'"
        running.execute(f"CREATE ROLE {role} IN ROLE pg_read_all_stats")
        running.execute("CREATE ROLE app LOGIN PASSWORD 'lab'")
        running.execute("GRANT CREATE ON SCHEMA public TO app")
        with psycopg.connect(running.dsn_for("app"), autocommit=True) as app:
            for statement in TRAPS:
                app.execute(statement.format(body=BODY).encode())
        yield running


def texts(scraped: dict[Series, float]) -> int:
    return sum(name == "pg_stat_statements_query_info" for name, _ in scraped)


def outlines(scraped: dict[Series, float]) -> set[str]:
    return {
        dict(labels)["plan"]
        for name, labels in scraped
        if name == "pg_stat_statements_plan_info"
    }


def test_an_operator_or_function_of_another_role_is_never_called(
    server: Postgres,
) -> None:
    dsn = server.dsn_for(MONITOR, PASSWORD)

    with exporting(dsn, "--texts.enabled=true") as exporter:
        scraped = exporter.scrape()
        wait_until(lambda: texts(exporter.scrape()) > 0, seconds=10, what="the texts")

    assert not reasons(scraped)
    assert "caught" not in server.log


@pytest.mark.parametrize("server", ["18"], indirect=True)
def test_a_plan_is_that_of_the_table_on_the_roles_own_search_path(
    server: Postgres,
) -> None:
    server.execute("CREATE SCHEMA shop; CREATE TABLE shop.orders (id int)")
    server.execute(f"GRANT USAGE ON SCHEMA shop TO {MONITOR}")
    server.execute(f"GRANT SELECT ON shop.orders TO {MONITOR}")
    server.execute(f"ALTER ROLE {MONITOR} SET search_path = shop")
    server.execute("SET search_path = shop; SELECT id FROM orders")
    with exporting(server.dsn_for(MONITOR, PASSWORD), *PLANS) as exporter:
        wait_until(
            lambda: "Seq Scan orders" in outlines(exporter.scrape()),
            seconds=10,
            what="the plan",
        )


@pytest.mark.parametrize("server", ["18"], indirect=True)
def test_functions_that_the_planner_calls_have_no_lasting_effect(
    server: Postgres,
) -> None:
    server.execute(
        "CREATE FUNCTION notifying() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$BEGIN "
        f"IF current_user = '{MONITOR}' THEN PERFORM pg_notify('secrets', 'x'); END IF;"
        " RETURN 1; END$$"
    )
    server.execute("SELECT notifying() AS called")
    with (
        psycopg.connect(server.dsn, autocommit=True) as listener,
        exporting(server.dsn_for(MONITOR, PASSWORD), *PLANS) as exporter,
    ):
        listener.execute("LISTEN secrets")
        wait_until(
            lambda: "Result" in outlines(exporter.scrape()),
            seconds=10,
            what="the plan of a call",
        )
        received = list(listener.notifies(timeout=0.5))

    assert not received
