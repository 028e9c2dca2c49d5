"""A server whose pg_stat_statements.max was changed, which takes a restart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.postgres import Postgres

from ..builders import Series, series
from ..exporting import PG_UP, exporting, reasons
from ..workload import create_wide_table, run_selections

pytestmark = pytest.mark.servers

CALLS = "pg_stat_statements_calls_total"
SINCE = "pg_stat_statements_stats_since_seconds"
ENTRIES = series("pg_stat_statements_entries")
CAPACITY = series("pg_stat_statements_max_entries")
DEALLOC = series("pg_stat_statements_info_dealloc_total")
STARTED = series("pg_postmaster_start_time_seconds")
SMALL, LARGE = 100, 1000


@pytest.fixture(params=["14", "18"])
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    with Postgres(request.param) as running:
        create_wide_table(running)
        restart_with(running, LARGE)
        yield running


def restart_with(server: Postgres, capacity: int) -> None:
    server.execute(f"ALTER SYSTEM SET pg_stat_statements.max = {capacity}")
    server.restart()


def of(scraped: dict[Series, float], name: str) -> dict[tuple[object, ...], float]:
    return {
        labels: value for (metric, labels), value in scraped.items() if metric == name
    }


def test_a_smaller_table_loses_entries_and_its_restart_is_visible(
    server: Postgres,
) -> None:
    run_selections(server, range(1, 301), times=2)
    with exporting(server.dsn) as exporter:
        before = exporter.scrape()
        restart_with(server, SMALL)
        after = exporter.scrape()
        run_selections(server, range(1, 301), times=1)
        later = exporter.scrape()

    for scraped in (before, after, later):
        assert (scraped[PG_UP], reasons(scraped)) == (1, set())
    assert (before[CAPACITY], after[CAPACITY]) == (LARGE, SMALL)
    assert before[ENTRIES] > SMALL >= after[ENTRIES]
    assert after[STARTED] > before[STARTED]
    calls_before, calls_after = of(before, CALLS), of(after, CALLS)
    assert 0 < len(calls_after) < len(calls_before)
    # What survived continues; what is new since the restart was never seen before.
    for key in calls_after.keys() & calls_before.keys():
        assert calls_after[key] >= calls_before[key]
    assert later[DEALLOC] > after[DEALLOC]
    assert_returns_are_visible(before, later)


def assert_returns_are_visible(
    before: dict[Series, float], later: dict[Series, float]
) -> None:
    """An entry that fell back began later, where the server shows when."""
    since_before, since_later = of(before, SINCE), of(later, SINCE)
    for key, calls in of(later, CALLS).items():
        if calls < of(before, CALLS).get(key, 0) and since_later:
            assert since_later[key] > since_before[key]


def test_a_larger_table_keeps_its_entries_and_stops_to_evict(server: Postgres) -> None:
    restart_with(server, SMALL)
    run_selections(server, range(1, 301), times=1)
    with exporting(server.dsn) as exporter:
        before = exporter.scrape()
        restart_with(server, LARGE)
        after = exporter.scrape()
        run_selections(server, range(1, 301), times=1)
        later = exporter.scrape()

    assert (before[CAPACITY], after[CAPACITY]) == (SMALL, LARGE)
    calls_before, calls_after = of(before, CALLS), of(after, CALLS)
    kept = calls_after.keys() & calls_before.keys()
    assert len(kept) > SMALL / 2
    assert all(calls_after[key] >= calls_before[key] for key in kept)
    # A clean restart keeps the count.
    assert 0 < before[DEALLOC] <= after[DEALLOC] == later[DEALLOC]
    assert later[ENTRIES] > 300
    assert reasons(later) == set()


@pytest.mark.parametrize("capacities", [(LARGE, SMALL), (SMALL, LARGE)])
def test_the_costliest_keep_their_places_across_the_change(
    server: Postgres, capacities: tuple[int, int]
) -> None:
    places = 5
    restart_with(server, capacities[0])
    run_selections(server, range(1, 200), times=1)
    for columns in range(1, places + 1):
        for _ in range(3):
            server.execute(f"SELECT pg_sleep(0.1) {', 1' * columns}")
    with exporting(server.dsn, f"--statements.limit={places}") as exporter:
        before = exporter.scrape()
        restart_with(server, capacities[1])
        scrapes = [exporter.scrape() for _ in range(3)]

    shown = [set(of(scraped, CALLS)) for scraped in (before, *scrapes)]
    assert len(shown[0]) == places
    assert shown == [shown[0]] * 4
    assert [set(of(s, CALLS).values()) for s in scrapes] == [{3}] * 3
