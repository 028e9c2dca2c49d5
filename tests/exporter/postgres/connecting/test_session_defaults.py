"""Whatever a role or a database sets for its sessions, the page is the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.postgres import Postgres
from lab.process import wait_until

from ...builders import Series
from ...exporting import PG_UP, exporting, reasons, statement_series
from ...oracle import FIELDS
from ...workload import DATABASES, MONITOR, ROLES, busy_server, monitor_dsn

pytestmark = pytest.mark.servers

HOSTILE = {
    "DateStyle": "'SQL, DMY'",
    "IntervalStyle": "iso_8601",
    "TimeZone": "'Asia/Kathmandu'",
    "bytea_output": "escape",
    "client_encoding": "LATIN1",
    "extra_float_digits": "-15",
    "lc_numeric": "'C'",
    "search_path": "information_schema, nowhere",
    "standard_conforming_strings": "off",
    "backslash_quote": "on",
    "quote_all_identifiers": "on",
    "array_nulls": "off",
    "transform_null_equals": "on",
    "row_security": "off",
    "work_mem": "'64kB'",
    "jit": "on",
    "jit_above_cost": "0",
    "statement_timeout": "'25ms'",
    "lock_timeout": "'1ms'",
    "idle_in_transaction_session_timeout": "'25ms'",
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "default_transaction_read_only": "on",
    "enable_seqscan": "off",
    "cursor_tuple_fraction": "0",
    "client_min_messages": "debug5",
}
FROM_14 = {"idle_session_timeout": "'25ms'"}
FROM_17 = {"transaction_timeout": "'25ms'"}
PLANS = ("--plans.enabled=true", "--plans.interval=100ms", "--plans.number=99")
EVERYTHING = (f"--statements.counters={','.join(FIELDS)}", "--texts.enabled=true")


@pytest.fixture(scope="module", params=["14", "18"])
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    with busy_server(request.param) as running:
        yield running


def hostile(server: Postgres) -> dict[str, str]:
    newest = FROM_17 if int(server.version) >= 17 else {}
    return HOSTILE | FROM_14 | newest


def page(server: Postgres) -> tuple[dict[Series, float], set[Series]]:
    """Series with the values that nothing changes, and the names of all others."""
    with exporting(monitor_dsn(server), *EVERYTHING) as exporter:
        wait_until(
            lambda: "pg_stat_statements_query_info{" in exporter.get().text,
            seconds=15,
            what="texts",
        )
        scrapes = [exporter.scrape() for _ in range(3)]
    assert [reasons(scraped) for scraped in scrapes] == [{"not_collecting"}] * 3
    assert {scraped[PG_UP] for scraped in scrapes} == {1}
    return statement_series(scrapes[-1]), set(scrapes[-1])


@pytest.mark.parametrize("whose", ["role", "database", "both"])
def test_hostile_defaults_give_the_same_page(server: Postgres, whose: str) -> None:
    plain = page(server)
    owners = {"role": f"ROLE {MONITOR}", "database": "DATABASE postgres"}
    owners["both"] = f"ROLE {MONITOR} IN DATABASE postgres"
    settings = hostile(server)
    for name, value in settings.items():
        server.execute(
            f"ALTER {owners[whose]} SET {name} = {value}", database="template1"
        )
    try:
        changed = page(server)
    finally:
        # The superuser's sessions have the defaults of their database as well.
        server.execute(f"ALTER {owners[whose]} RESET ALL", database="template1")

    assert changed == plain


@pytest.mark.parametrize(
    ("name", "value"),
    [("pg_stat_statements.track", "none"), ("compute_query_id", "off")],
)
def test_hiding_the_exporters_own_statements_is_not_a_problem(
    server: Postgres, name: str, value: str
) -> None:
    server.execute("ALTER SYSTEM SET pg_stat_statements.track = 'top'")
    server.restart()
    server.execute(f"ALTER ROLE {MONITOR} SET {name} = {value}")
    with exporting(monitor_dsn(server)) as exporter:
        scraped = exporter.scrape()
    server.execute(f"ALTER ROLE {MONITOR} RESET ALL")
    server.execute("ALTER SYSTEM SET pg_stat_statements.track = 'none'")
    server.restart()

    assert reasons(scraped) == set()
    assert "pg_stat_statements_collecting" not in {name for name, _ in scraped}


def test_plans_do_not_depend_on_the_roles_spelling_of_names() -> None:
    identities = []
    with Postgres("18") as server:
        server.create_monitor()
        server.execute('CREATE TABLE "Orders" (id int, at date)')
        server.execute('SELECT id FROM "Orders" ORDER BY at')
        server.execute(f'GRANT SELECT ON "Orders" TO {MONITOR}')
        for settings in ({}, {"quote_all_identifiers": "on", "jit": "on"}):
            for name, value in settings.items():
                server.execute(f"ALTER ROLE {MONITOR} SET {name} = {value}")
            with exporting(monitor_dsn(server), *PLANS) as exporter:
                wait_until(
                    lambda: "Seq Scan Orders" in exporter.get().text,
                    seconds=15,
                    what="a plan",
                )
                scraped = exporter.scrape()
            identities.append(
                {
                    dict(labels)["plan_id"]
                    for name, labels in scraped
                    if "Seq Scan Orders" in dict(labels).get("plan", "")
                }
            )

    assert len(identities[0]) == 1
    assert identities[0] == identities[1]


def test_a_literal_that_ends_elsewhere_for_another_parser_is_not_executed() -> None:
    """With standard_conforming_strings off, the backslash would escape the quote."""
    trap = "SELECT 1 AS \"x\" FROM trap WHERE t <> U&'\\005c' OR t = ' \\'"
    with Postgres("18") as server:
        server.create_monitor()
        server.execute("CREATE TABLE trap (t text)")
        server.execute(f"GRANT SELECT ON trap TO {MONITOR}")
        server.execute(trap)
        server.execute(f"ALTER ROLE {MONITOR} SET standard_conforming_strings = off")
        with exporting(monitor_dsn(server), *PLANS) as exporter:
            wait_until(
                lambda: "Seq Scan trap" in exporter.get().text,
                seconds=15,
                what="the plan",
            )


def test_the_workload_has_what_an_encoding_could_spoil() -> None:
    assert any(not name.isascii() for name in (*ROLES, *DATABASES))
