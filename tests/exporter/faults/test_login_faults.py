"""Missing privileges, refused logins, no free connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
import pytest

from lab.postgres import Postgres

from ..builders import series
from ..exporting import PG_UP, Exporter, exporting, reasons, statement_series
from ..workload import MONITOR, PASSWORD
from .checks import assert_complete, assert_down, assert_recovers

pytestmark = pytest.mark.servers

ENTRIES = series("pg_stat_statements_entries")


@contextmanager
def as_monitor(server: Postgres) -> Iterator[Exporter]:
    dsn = server.dsn_for(user=MONITOR, password=PASSWORD)
    with exporting(dsn) as exporter:
        assert_complete(exporter.scrape())
        yield exporter
        assert_complete(exporter.scrape())


@pytest.mark.parametrize(
    ("revoke", "grant"),
    [
        (
            f"REVOKE pg_read_all_stats FROM {MONITOR}",
            f"GRANT pg_read_all_stats TO {MONITOR}",
        ),
        (
            f"GRANT pg_read_all_stats TO {MONITOR} WITH INHERIT FALSE",
            f"GRANT pg_read_all_stats TO {MONITOR} WITH INHERIT TRUE",
        ),
    ],
    ids=["revoked", "not inherited"],
)
def test_a_privilege_revoked_and_granted_again(
    server: Postgres, revoke: str, grant: str
) -> None:
    with as_monitor(server) as exporter:
        server.execute(revoke)
        without = exporter.scrape()
        ready = exporter.get("/-/ready")
        server.execute(grant)

    users = {dict(labels)["user"] for _, labels in statement_series(without)}
    skipped = {
        dict(labels)["reason"]: value
        for (name, labels), value in without.items()
        if name == "pgverdict_exporter_statements_skipped"
    }
    assert reasons(without) == {"privilege_missing"}
    assert users <= {MONITOR}
    shown = sum(name == "pg_stat_statements_calls_total" for name, _ in without)
    assert skipped["no_privilege"] > 0
    assert shown + sum(skipped.values()) == without[ENTRIES]
    assert ready.status_code == 503


def test_a_function_that_may_not_be_called(server: Postgres) -> None:
    with as_monitor(server) as exporter:
        function = "FUNCTION pg_stat_statements(boolean)"
        server.execute(f"REVOKE EXECUTE ON {function} FROM PUBLIC")
        without = exporter.scrape()
        server.execute(f"GRANT EXECUTE ON {function} TO PUBLIC")

    assert reasons(without) == {"permission_denied"}
    assert without[PG_UP] == 1


def test_a_server_without_a_free_connection() -> None:
    settings = {"max_connections": "6", "superuser_reserved_connections": "2"}
    with Postgres("17", settings=settings) as server:
        server.execute(f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}'")
        server.execute(f"GRANT pg_read_all_stats TO {MONITOR}")
        dsn = server.dsn_for(user=MONITOR, password=PASSWORD)
        with exporting(dsn) as exporter:
            with full(dsn):
                scraped = exporter.scrape()

            assert_down(scraped, "too_many_connections")
            assert_recovers(exporter)


@contextmanager
def full(dsn: str) -> Iterator[None]:
    """Open connections until the server has no more."""
    taken = []
    with suppress(psycopg.OperationalError):
        while True:
            taken.append(psycopg.connect(dsn))
    yield
    for connection in taken:
        connection.close()


@pytest.mark.parametrize(
    "wrong",
    [{"password": "wrong"}, {"user": "nobody"}, {"database": "nowhere"}],
    ids=str,
)
def test_a_login_that_is_refused(server: Postgres, wrong: dict[str, str]) -> None:
    with exporting(server.dsn_for(**wrong)) as exporter:
        assert_down(exporter.scrape(), "rejected")
