"""Whatever resets a counter can be recognised from the series alone.

From 17 on each entry shows when it was created. Before, the series show what may have
reset it: evictions, the last reset, the start of the server and its identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from lab.postgres import Postgres

from ..builders import Series, series
from ..exporting import Exporter, exporting, reasons
from ..workload import create_wide_table, run_selections

pytestmark = pytest.mark.servers

CALLS = "pg_stat_statements_calls_total"
SINCE = "pg_stat_statements_stats_since_seconds"
DEALLOC = series("pg_stat_statements_info_dealloc_total")
RESET = series("pg_stat_statements_info_stats_reset_seconds")
STARTED = series("pg_postmaster_start_time_seconds")
SUSPECTS = (DEALLOC, RESET, STARTED)


@pytest.fixture(params=["14", "17", "18"])
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    settings = {"pg_stat_statements.max": "100"}
    with Postgres(request.param, settings=settings) as running:
        running.execute("CREATE ROLE app LOGIN PASSWORD 'lab'")
        running.execute("CREATE TABLE watched (a int); GRANT ALL ON watched TO app")
        create_wide_table(running)
        # A crash must not lose these.
        running.execute("CHECKPOINT")
        yield running


@pytest.fixture
def exporter(server: Postgres) -> Iterator[Exporter]:
    with exporting(server.dsn, "--context.enabled=false") as running:
        yield running


def run(server: Postgres, times: int) -> None:
    """Execute the watched statement as a role of its own."""

    with psycopg.connect(server.dsn_for(user="app"), autocommit=True) as connection:
        for _ in range(times):
            connection.execute("SELECT a FROM watched")


def watched(scraped: dict[Series, float], name: str) -> float:
    """The watched statement's value; -1 where it has none."""
    values = [
        value
        for (metric, labels), value in scraped.items()
        if metric == name and dict(labels).get("user") == "app"
    ]
    return values[0] if values else -1


def evict(server: Postgres) -> None:
    """Evict all entries by other statements, each executed more often."""
    run_selections(server, range(1, 300), times=4)


def reset_all(server: Postgres) -> None:
    server.execute("SELECT pg_stat_statements_reset()")


def reset_one(server: Postgres) -> None:
    server.execute(
        "SELECT pg_stat_statements_reset(userid, dbid, queryid) "
        "FROM pg_stat_statements WHERE userid = 'app'::regrole"
    )


def crash(server: Postgres) -> None:
    server.kill()
    server.start()


def before_and_after(
    server: Postgres, exporter: Exporter, event: Callable[[Postgres], None]
) -> tuple[dict[Series, float], dict[Series, float]]:
    """Three calls, a scrape, the event, four calls, a scrape."""
    run(server, 3)
    before = exporter.scrape()
    event(server)
    run(server, 4)
    after = exporter.scrape()
    return before, after


def test_an_eviction_is_visible(server: Postgres, exporter: Exporter) -> None:
    """3 calls, eviction, 4 calls would look like 1 more call."""
    before, after = before_and_after(server, exporter, evict)

    assert (watched(before, CALLS), watched(after, CALLS)) == (3, 4)
    assert after[DEALLOC] > before[DEALLOC]
    assert after[RESET] == before[RESET]
    assert_since_moved(server, before, after)


def test_a_reset_of_all_is_visible(server: Postgres, exporter: Exporter) -> None:
    before, after = before_and_after(server, exporter, reset_all)

    assert (watched(before, CALLS), watched(after, CALLS)) == (3, 4)
    assert after[RESET] > before[RESET]
    assert_since_moved(server, before, after)


def test_a_crash_is_visible(server: Postgres, exporter: Exporter) -> None:
    before, after = before_and_after(server, exporter, crash)

    assert (watched(before, CALLS), watched(after, CALLS)) == (3, 4)
    assert after[STARTED] > before[STARTED]
    assert_since_moved(server, before, after)


def test_a_reset_of_one_statement_is_visible_from_17_on(
    server: Postgres, exporter: Exporter
) -> None:
    """Before 17 only a decrease of the counter shows it."""
    before, after = before_and_after(server, exporter, reset_one)

    assert (watched(before, CALLS), watched(after, CALLS)) == (3, 4)
    assert_since_moved(server, before, after)
    assert [after[s] for s in SUSPECTS] == [before[s] for s in SUSPECTS]


def assert_since_moved(
    server: Postgres, before: dict[Series, float], after: dict[Series, float]
) -> None:
    if server.version == "14":
        assert SINCE not in {name for name, _ in after}
    else:
        assert watched(after, SINCE) > watched(before, SINCE)


def test_a_clean_restart_keeps_the_counters_and_is_visible(
    server: Postgres, exporter: Exporter
) -> None:
    before, after = before_and_after(server, exporter, Postgres.restart)

    assert (watched(before, CALLS), watched(after, CALLS)) == (3, 7)
    assert watched(after, SINCE) == watched(before, SINCE)
    assert after[STARTED] > before[STARTED]


def test_a_quiet_server_looks_like_no_reset(
    server: Postgres, exporter: Exporter
) -> None:
    before, after = before_and_after(server, exporter, lambda _: None)

    assert (watched(before, CALLS), watched(after, CALLS)) == (3, 7)
    assert [after[s] for s in SUSPECTS] == [before[s] for s in SUSPECTS]


def test_the_table_shows_how_full_it_is(server: Postgres, exporter: Exporter) -> None:
    scraped = exporter.scrape()

    assert scraped[series("pg_stat_statements_max_entries")] == 100
    assert 0 < scraped[series("pg_stat_statements_entries")] <= 100


@pytest.mark.parametrize(
    "setting", ["pg_stat_statements.track = 'none'", "compute_query_id = off"]
)
def test_a_server_that_does_not_count_is_a_problem(
    server: Postgres, exporter: Exporter, setting: str
) -> None:
    on = exporter.scrape()
    server.execute(f"ALTER SYSTEM SET {setting}")
    server.restart()
    off = exporter.scrape()

    collecting = series("pg_stat_statements_collecting")
    assert (on[collecting], off[collecting]) == (1, 0)
    assert (reasons(on), reasons(off)) == (set(), {"not_collecting"})
