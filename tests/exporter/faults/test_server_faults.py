"""Faults of the server: each scrape ends in time, and the exporter recovers."""

from __future__ import annotations

import psycopg
import pytest

from lab.postgres import Postgres
from lab.process import free_port

from ..exporting import PG_UP, Exporter, exporting, reasons, statement_series
from .checks import SHORT, assert_complete, assert_down, assert_recovers, connections

pytestmark = pytest.mark.servers


def test_a_server_that_stops_and_starts(server: Postgres, exporter: Exporter) -> None:
    server.stop()
    stopped = exporter.scrape()
    server.start()

    assert_down(stopped, "unreachable")
    assert_complete(exporter.scrape())


def test_a_server_that_crashes(server: Postgres, exporter: Exporter) -> None:
    server.kill()
    crashed = exporter.scrape()
    server.start()

    assert_down(crashed, "unreachable")
    assert_complete(exporter.scrape())


def test_a_server_that_restarts_between_two_scrapes_fails_none(
    server: Postgres, exporter: Exporter
) -> None:
    server.restart()

    assert_complete(exporter.scrape())


def test_a_server_that_starts_after_the_exporter() -> None:
    late = Postgres("17", port=free_port())
    with exporting(f"{late.dsn} connect_timeout=2") as exporter:
        before = exporter.scrape()
        with late:
            assert_down(before, "unreachable")
            assert_complete(exporter.scrape())


def test_a_frozen_server(server: Postgres, exporter: Exporter) -> None:
    server.freeze()
    try:
        frozen = [exporter.scrape(timeout=SHORT) for _ in range(3)]
    finally:
        server.thaw()

    for scraped in frozen:
        assert_down(scraped, "timeout")
    assert_recovers(exporter)
    assert connections(server) == 1


def test_a_server_that_is_frozen_from_the_start(server: Postgres) -> None:
    with exporting(server.dsn) as exporter:
        server.freeze()
        try:
            frozen = exporter.scrape(timeout=SHORT)
        finally:
            server.thaw()

        assert_down(frozen, "timeout")
        assert_recovers(exporter)


def test_a_backend_that_is_killed(server: Postgres, exporter: Exporter) -> None:
    killed = server.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE application_name = 'pgverdict_exporter'"
    )

    assert killed == [(True,)]
    assert_complete(exporter.scrape())


def test_an_extension_dropped_and_created_again(
    server: Postgres, exporter: Exporter
) -> None:
    server.execute("DROP EXTENSION pg_stat_statements")
    dropped = exporter.scrape()
    server.execute('CREATE SCHEMA "odd \'schema"')
    server.execute('CREATE EXTENSION pg_stat_statements SCHEMA "odd \'schema"')
    elsewhere = exporter.scrape()
    server.execute("ALTER EXTENSION pg_stat_statements SET SCHEMA public")

    assert reasons(dropped) == {"extension_missing"}
    assert dropped[PG_UP] == 1
    assert not statement_series(dropped)
    assert_complete(elsewhere)
    assert_complete(exporter.scrape())


def test_an_extension_that_is_updated_during_the_connection() -> None:
    with Postgres("17", extension=False) as server:
        server.execute("CREATE EXTENSION pg_stat_statements VERSION '1.8'")
        with exporting(server.dsn) as exporter:
            old = exporter.scrape()
            server.execute("ALTER EXTENSION pg_stat_statements UPDATE")
            new = exporter.scrape()

    assert not [labels for _, labels in statement_series(old) if len(labels) == 4]
    assert {len(labels) for _, labels in statement_series(new)} == {4}


def test_a_library_that_is_not_preloaded() -> None:
    with (
        Postgres("17", settings={"shared_preload_libraries": ""}) as server,
        exporting(server.dsn) as exporter,
    ):
        scraped = exporter.scrape()

    assert reasons(scraped) == {"not_preloaded"}
    assert scraped[PG_UP] == 1


def test_a_lock_on_what_is_essential(server: Postgres, exporter: Exporter) -> None:
    with psycopg.connect(server.dsn) as other:
        other.execute("LOCK TABLE pg_catalog.pg_extension")
        locked = exporter.scrape(timeout=SHORT)

    assert_down(locked, "timeout")
    assert_complete(exporter.scrape())
