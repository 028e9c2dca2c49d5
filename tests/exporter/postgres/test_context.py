"""Server-wide series on servers of every version, each changed by its cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from bench.speed.statements import fill
from exporter.postgres.context import CONTEXT
from lab.postgres import Postgres
from lab.process import wait_until

from ..builders import Series, series
from ..exporting import Exporter, exporting, reasons
from ..workload import MONITOR, PASSWORD

VERSIONS = ["14", "15", "16", "17", "18"]
NAMES = {measure.name for measure in CONTEXT}


@pytest.fixture(scope="module", params=VERSIONS)
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    with Postgres(request.param) as running:
        running.execute(f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}'")
        running.execute(f"GRANT pg_read_all_stats TO {MONITOR}")
        running.execute("CREATE TABLE t AS SELECT generate_series(1, 100000) AS i")
        yield running


@pytest.fixture
def exporter(server: Postgres) -> Iterator[Exporter]:
    dsn = server.dsn_for(user=MONITOR, password=PASSWORD)
    with exporting(dsn) as running:
        yield running


def wait_for(
    exporter: Exporter, condition: Callable[[dict[Series, float]], bool]
) -> None:
    """Statistics reach the views a little later than the events."""
    wait_until(
        lambda: condition(exporter.scrape()), seconds=10, what="the series to change"
    )


@pytest.mark.servers
def test_every_metric_is_there_without_a_problem(exporter: Exporter) -> None:
    scraped = exporter.scrape()

    absent = NAMES - {name for name, _ in scraped}
    assert absent == {name for name in NAMES if name.startswith("pg_replication")}
    assert reasons(scraped) == set()


@pytest.mark.servers
def test_counters_rise_with_what_they_count(
    server: Postgres, exporter: Exporter
) -> None:
    before = exporter.scrape()

    server.execute(
        "SET work_mem = '64kB'; SELECT * FROM t ORDER BY i DESC OFFSET 99999"
    )
    server.execute("INSERT INTO t SELECT * FROM t")
    server.execute("CHECKPOINT")

    rising = [
        series("pg_checkpoints_total", cause="requested"),
        series("pg_database_blocks_hit_total", datname="postgres"),
        series("pg_database_temp_bytes_total", datname="postgres"),
        series("pg_wal_bytes_total"),
    ]
    wait_for(exporter, lambda now: all(now[s] > before[s] for s in rising))


@pytest.mark.servers
def test_connections_are_counted_by_state(server: Postgres, exporter: Exporter) -> None:
    with psycopg.connect(server.dsn) as other:
        other.execute("SELECT 1")
        scraped = exporter.scrape()

    assert scraped[series("pg_connections", state="idle in transaction")] == 1
    assert scraped[series("pg_connections", state="active")] == 1


@pytest.mark.servers
def test_waiting_for_a_lock_is_shown(server: Postgres, exporter: Exporter) -> None:
    waiting = series("pg_connections_waiting_for_lock")
    with ThreadPoolExecutor(1) as pool, psycopg.connect(server.dsn) as holder:
        holder.execute("LOCK TABLE t")
        pool.submit(server.execute, "SELECT count(*) FROM t")

        wait_for(exporter, lambda now: now[waiting] == 1)


@contextmanager
def slow_vacuum(server: Postgres) -> Iterator[None]:
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(server.dsn, autocommit=True) as worker,
    ):
        worker.execute("SET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1")
        vacuum = pool.submit(worker.execute, "VACUUM t")
        yield
        worker.cancel_safe()
        assert isinstance(vacuum.exception(), psycopg.errors.QueryCanceled)


@pytest.mark.servers
def test_a_running_vacuum_is_shown(server: Postgres, exporter: Exporter) -> None:
    server.execute("DELETE FROM t WHERE i % 7 = 0")
    with slow_vacuum(server):
        wait_for(
            exporter, lambda now: now[series("pg_vacuums_running", kind="manual")] == 1
        )


@pytest.mark.servers
def test_a_scrape_writes_no_temporary_file() -> None:
    """300 statements do not fit into 64 kB."""
    settings = {"work_mem": "64kB", "log_temp_files": "0"}

    with Postgres("17", settings=settings) as server:
        fill(server, number=300)
        server.execute("SELECT count(*) FROM pg_stat_statements")
        before = server.log.count("temporary file")
        with exporting(server.dsn) as exporter:
            exporter.scrape()
        after = server.log.count("temporary file")

    assert before > 0
    assert after == before


@pytest.mark.servers
def test_when_off_nothing_server_wide_is_read(server: Postgres) -> None:
    with exporting(server.dsn, "--context.enabled=false") as exporter:
        names = {name for name, _ in exporter.scrape()}

    assert not names & NAMES


@pytest.mark.servers
def test_a_view_without_privilege_loses_the_context_and_nothing_else(
    server: Postgres,
) -> None:
    dsn = server.dsn_for(user=MONITOR, password=PASSWORD)
    with exporting(dsn) as exporter:
        server.execute("REVOKE SELECT ON pg_stat_activity FROM PUBLIC")
        without = exporter.scrape()
        server.execute("GRANT SELECT ON pg_stat_activity TO PUBLIC")
        after = exporter.scrape()

    assert reasons(without) == {"context_missing"}
    assert [name for name, _ in without if name == "pg_stat_statements_calls_total"]
    assert reasons(after) == set()
