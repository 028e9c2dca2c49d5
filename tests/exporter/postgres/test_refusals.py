"""What the server refuses costs what was asked, and never a statement."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from lab.postgres import Postgres

from ..builders import Series, series
from ..exporting import PG_UP, exporting, reasons, statement_series
from ..workload import MONITOR
from .refusing import raising, refuse_function, replace_statements, system_tables

pytestmark = pytest.mark.servers

VERSIONS = ["14", "18"]
# A function, and the metrics that cannot be read without it.
ACTIVITY = {"pg_connections", "pg_connections_waiting_for_lock", "pg_vacuums_running"}
FUNCTIONS = {
    "pg_stat_get_wal()": {"pg_wal_bytes_total"},
    "pg_stat_get_db_temp_bytes(oid)": {"pg_database_temp_bytes_total"},
    "pg_stat_get_checkpointer_write_time()": {"pg_checkpoint_write_seconds_total"},
    "pg_stat_get_activity(int)": ACTIVITY,
    "pg_stat_get_progress_info(text)": {"pg_vacuums_running"},
}
FACTS = {
    "pg_control_system()": {"pg_server_info"},
    "pg_is_in_recovery()": {"pg_in_recovery"},
    "pg_postmaster_start_time()": {"pg_postmaster_start_time_seconds"},
    "pg_has_role(name, text)": {"pg_read_all_stats", *ACTIVITY}
    | {"pg_replication_replay_lag_bytes"},
    "pg_show_all_settings()": {"pg_stat_statements_collecting"},
}
OLDER_NAMES = {
    "pg_stat_get_checkpointer_write_time()": "pg_stat_get_checkpoint_write_time()"
}
# SQLSTATE and the reason that is shown. 57014 is what a time limit gives.
STATES = {
    "0A000": "not_supported",
    "42501": "permission_denied",
    "42883": "not_supported",
    "42P01": "not_supported",
    "22P05": "failed",
    "55000": "failed",
    "57014": "timeout",
    "55P03": "timeout",
    "58000": "failed",
    "57P01": "failed",
    "08006": "failed",
    "XX000": "failed",
    "P0001": "failed",
}


@pytest.fixture(params=VERSIONS)
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    with Postgres(request.param) as running:
        running.create_monitor()
        running.execute("SELECT oid FROM pg_class")
        yield running


def missing(scraped: dict[Series, float]) -> dict[str, str]:
    """Metric → why it is missing, except what the version does not offer."""
    return {
        labels["measure"]: labels["reason"]
        for name, labels in ((name, dict(labels)) for name, labels in scraped)
        if name == "pgverdict_exporter_measure_missing"
        and labels["reason"] != "not_offered"
    }


def assert_all_but(
    server: Postgres, measures: set[str], problems: set[str]
) -> dict[str, str]:
    """Everything that is there without a refusal, except *measures*; why not these."""
    with exporting(server.dsn_for(MONITOR)) as exporter:
        first, scraped = exporter.scrape(), exporter.scrape()

    assert set(missing(first)) == set(missing(scraped)) == measures
    assert scraped[PG_UP] == 1
    assert reasons(scraped) == problems
    assert statement_series(scraped)
    names = {name for name, _ in scraped}
    assert not names & (measures - {"pg_server_info"})
    assert names >= {"pg_checkpoints_total", "pg_database_blocks_hit_total"}
    return missing(scraped)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_that_is_not_supported_costs_its_measures(
    server: Postgres, function: str
) -> None:
    measures = FUNCTIONS[function]
    name = function if server.version == "18" else OLDER_NAMES.get(function, function)
    refuse_function(server, name, raising("0A000"))

    why = assert_all_but(server, measures, {"context_missing"})

    assert set(why.values()) == {"not_supported"}


@pytest.mark.parametrize("function", FACTS)
def test_a_fact_about_the_server_that_is_refused_costs_only_itself(
    server: Postgres, function: str
) -> None:
    refuse_function(server, function, raising("0A000"))

    assert_all_but(server, FACTS[function], {"measures_missing"})


def test_settings_that_may_not_be_made_cost_nothing(server: Postgres) -> None:
    refuse_function(server, "set_config(text, text, bool)", raising("42501"))

    assert_all_but(server, set(), set())


@pytest.mark.parametrize("state", STATES)
def test_every_error_is_a_reason_and_its_text_in_any_language_none(
    server: Postgres, state: str
) -> None:
    text = "Größe überschritten: 関数 не поддерживается; timeout password database "
    refuse_function(server, "pg_stat_get_wal()", raising(state, text))

    why = assert_all_but(server, {"pg_wal_bytes_total"}, {"context_missing"})

    assert set(why.values()) == {STATES[state]}


def test_a_function_that_does_not_end_costs_its_measure(server: Postgres) -> None:
    refuse_function(server, "pg_stat_get_wal()", "PERFORM pg_sleep(60)")

    with exporting(server.dsn_for(MONITOR)) as exporter:
        scraped = exporter.scrape(timeout=5)

    assert missing(scraped) == {"pg_wal_bytes_total": "timeout"}
    assert statement_series(scraped)


def test_a_function_that_ends_the_connection_costs_what_comes_after_it(
    server: Postgres,
) -> None:
    """The statements had been read, and are shown."""
    refuse_function(
        server, "pg_stat_get_wal()", "PERFORM pg_terminate_backend(pg_backend_pid())"
    )

    with exporting(server.dsn) as exporter:
        scrapes = [exporter.scrape() for _ in range(2)]

    for scraped in scrapes:
        assert statement_series(scraped)
        assert (scraped[PG_UP], reasons(scraped)) == (1, {"unreachable"})


def test_a_lock_on_one_view_costs_its_measures(server: Postgres) -> None:
    with (
        exporting(server.dsn_for(MONITOR)) as exporter,
        psycopg.connect(server.dsn) as other,
    ):
        exporter.scrape()
        other.execute("LOCK TABLE pg_stat_statements_info")
        locked = exporter.scrape(timeout=5)
        other.rollback()
        after = exporter.scrape()

    assert missing(locked) == {
        "pg_stat_statements_info_dealloc_total": "timeout",
        "pg_stat_statements_info_stats_reset_seconds": "timeout",
    }
    assert reasons(locked) == {"measures_missing"}
    assert statement_series(locked)
    assert (missing(after), reasons(after)) == ({}, set())


def test_a_view_without_a_column_or_a_view_that_is_not_there_is_not_offered(
    server: Postgres,
) -> None:
    with system_tables(server) as connection:
        connection.execute("DROP VIEW pg_stat_wal")
        connection.execute("CREATE VIEW pg_catalog.pg_stat_wal AS SELECT 1 AS records")
        connection.execute("GRANT SELECT ON pg_catalog.pg_stat_wal TO PUBLIC")
        connection.execute(
            "ALTER EXTENSION pg_stat_statements DROP VIEW pg_stat_statements_info"
        )
        connection.execute("DROP VIEW pg_stat_statements_info")

    with exporting(server.dsn_for(MONITOR)) as exporter:
        scraped = exporter.scrape()

    assert (reasons(scraped), missing(scraped)) == (set(), {})
    for name in ("pg_wal_bytes_total", "pg_stat_statements_info_dealloc_total"):
        why = {"measure": name, "reason": "not_offered"}
        assert scraped[series("pgverdict_exporter_measure_missing", **why)] == 1


@pytest.mark.parametrize(
    ("column", "sql"),
    [
        ("wal_bytes", "'{}'::jsonb"),
        ("shared_blks_hit", "1e300::float8"),
        ("stddev_exec_time", "1e300::float8"),
    ],
    ids=["another type", "out of range", "out of range when squared"],
)
def test_a_column_that_cannot_be_read_costs_its_series(
    server: Postgres, column: str, sql: str
) -> None:
    replace_statements(server, **{column: sql})
    counters = "calls,seconds,rows,shared_blocks_hit,wal_bytes,seconds_squared"

    with exporting(server.dsn, f"--statements.counters={counters}") as exporter:
        scraped = exporter.scrape()

    shown = {name for name, _ in statement_series(scraped)}
    (lost,) = missing(scraped)
    assert "pg_stat_statements_seconds_total" in shown
    assert lost not in shown
    assert lost.startswith("pg_stat_statements_")
    assert reasons(scraped) == {"measures_missing"}


def test_without_the_privilege_what_others_do_is_missing_not_zero() -> None:
    """PostgreSQL shows other roles' connections, without saying what they are."""
    with Postgres("18") as server:
        server.execute("CREATE ROLE plain LOGIN PASSWORD 'lab'")
        with (
            psycopg.connect(server.dsn, autocommit=True),
            exporting(server.dsn_for("plain")) as exporter,
        ):
            scraped = exporter.scrape()

    why = {*ACTIVITY, "pg_replication_replay_lag_bytes"}
    assert missing(scraped) == dict.fromkeys(why, "permission_denied")
    assert not {name for name, _ in scraped} & why
    assert reasons(scraped) == {"privilege_missing"}


def test_a_lasting_refusal_is_one_error_a_scrape_in_the_servers_log(
    server: Postgres,
) -> None:
    refuse_function(server, "pg_stat_get_wal()", raising("0A000", "refused here"))

    with exporting(server.dsn_for(MONITOR)) as exporter:
        exporter.scrape()
        before = server.log.count("refused here")
        for _ in range(3):
            exporter.scrape()

    assert server.log.count("refused here") - before == 3
