"""Through pgbouncer in transaction mode: shared sessions stay unchanged."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from lab.pgbouncer import Pgbouncer
from lab.postgres import Postgres
from lab.process import wait_until

from ...exporting import PG_UP, exporting, reasons, statement_series

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres("17") as running:
        yield running


@pytest.fixture
def pooler(server: Postgres) -> Iterator[Pgbouncer]:
    with Pgbouncer(server) as running:
        yield running


def test_many_scrapes_in_a_row_work(pooler: Pgbouncer) -> None:
    flags = ("--texts.enabled=true", "--texts.interval=50ms")
    with exporting(pooler.dsn, *flags) as exporter:
        scrapes = [exporter.scrape() for _ in range(20)]

        wait_until(
            lambda: "pg_stat_statements_query_info{" in exporter.get().text,
            seconds=10,
            what="texts",
        )

    assert [reasons(scraped) for scraped in scrapes] == [set()] * 20
    assert all(statement_series(scraped) for scraped in scrapes)


def test_timeouts_do_not_leak_to_other_clients(pooler: Pgbouncer) -> None:
    """All clients of one user share the pool, so they get the exporter's session."""
    shown = set()
    with exporting(pooler.dsn) as exporter:
        for _ in range(10):
            exporter.scrape(timeout=3)
            with psycopg.connect(pooler.dsn, prepare_threshold=None) as other:
                for name in (
                    "statement_timeout",
                    "lock_timeout",
                    "default_transaction_read_only",
                ):
                    shown |= set(other.execute(f"SHOW {name}".encode()).fetchall())

    assert shown == {("0",), ("off",)}


def test_a_pooler_that_stops_is_a_server_that_is_down(server: Postgres) -> None:
    with Pgbouncer(server) as pooler:
        running = exporting(pooler.dsn)
        exporter = running.__enter__()
        exporter.scrape()
    down = exporter.scrape()
    running.__exit__(None, None, None)

    assert reasons(down) == {"unreachable"}


def test_a_pooler_without_its_server_is_a_server_that_is_down() -> None:
    with (
        Postgres("17") as server,
        Pgbouncer(server) as pooler,
        exporting(pooler.dsn) as exporter,
    ):
        exporter.scrape()
        server.stop()
        scrapes = [exporter.scrape(timeout=2) for _ in range(5)]

    assert {scraped[PG_UP] for scraped in scrapes} == {0}
    assert set().union(*map(reasons, scrapes)) <= {"unreachable", "timeout"}
