"""Every layout of pg_stat_statements on real servers, compared with their rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from exporter.postgres.queries import COLUMNS
from lab.postgres import Postgres

from ..builders import series
from ..exporting import exporting, reasons, statement_series
from ..oracle import FIELDS, truth
from ..workload import DATABASES, ROLES, busy_server, monitor_dsn

pytestmark = pytest.mark.servers

ALL_COUNTERS = f"--statements.counters={','.join(FIELDS)}"

# Server and extension; None is the extension that comes with the server.
MATRIX = [
    ("14", None),
    ("15", None),
    ("16", None),
    ("17", None),
    ("18", None),
    *[("15", f"1.{minor}") for minor in range(4, 10)],
    ("17", "1.10"),
    ("18", "1.11"),
]


@pytest.fixture(scope="module", params=MATRIX, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    with busy_server(*request.param) as running:
        yield running


def test_every_series_equals_the_servers_own_row(server: Postgres) -> None:
    with exporting(monitor_dsn(server), ALL_COUNTERS) as exporter:
        shown = statement_series(exporter.scrape())

    assert shown == truth(server)


def test_the_workload_contains_what_is_hard_to_distinguish(server: Postgres) -> None:
    with exporting(monitor_dsn(server), "--statements.counters=calls") as exporter:
        shown = [dict(labels) for _, labels in statement_series(exporter.scrape())]

    assert {labels["user"] for labels in shown} >= set(ROLES)
    assert {labels["datname"] for labels in shown} >= set(DATABASES)
    assert any(labels["queryid"].startswith("-") for labels in shown)
    assert {labels.get("toplevel") for labels in shown} in ({"true", "false"}, {None})


def test_no_row_is_lost_or_counted_as_skipped(server: Postgres) -> None:
    with exporting(monitor_dsn(server)) as exporter:
        scraped = exporter.scrape()

    ((rows,),) = server.execute("SELECT count(*) FROM pg_stat_statements")
    skipped = [v for (name, _), v in scraped.items() if name.endswith("_skipped")]
    assert scraped[series("pg_stat_statements_entries")] == rows
    assert skipped
    assert not any(skipped)
    assert reasons(scraped) == {"not_collecting"}


def test_evictions_and_resets_are_shown_from_1_9_on(server: Postgres) -> None:
    ((version,),) = server.execute(
        "SELECT extversion FROM pg_extension WHERE extname = 'pg_stat_statements'"
    )
    with exporting(monitor_dsn(server)) as exporter:
        scraped = exporter.scrape()

    shown = series("pg_stat_statements_info_dealloc_total") in scraped
    assert shown == (version not in [f"1.{minor}" for minor in range(4, 9)])


def test_the_time_of_an_entry_is_the_float_next_to_its_microsecond(
    postgres: Postgres,
) -> None:
    """100,000 times between 1970 and 2096; the cast of a numeric rounds correctly."""
    (since,) = (column.sql for column in COLUMNS if column.field == "since")

    ((wrong,),) = postgres.execute(
        f"SELECT count(*) FILTER (WHERE {since} <> extract(epoch FROM stats_since)"  # noqa: S608
        "::float8) FROM (SELECT to_timestamp(0) + i * interval '11 h' "
        "+ (i * 7919 % 1000003) * interval '1 us' AS stats_since "
        "FROM generate_series(1, 100000) i) AS moments"
    )

    assert wrong == 0
