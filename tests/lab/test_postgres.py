"""The launcher gives real servers that can be stopped, frozen and crashed."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from lab.pgbouncer import Pgbouncer
from lab.postgres import Postgres

pytestmark = pytest.mark.servers


@pytest.mark.parametrize(
    ("version", "extension"),
    [("14", "1.9"), ("15", "1.10"), ("16", "1.10"), ("17", "1.11"), ("18", "1.12")],
)
def test_each_version_counts_statements(version: str, extension: str) -> None:
    with Postgres(version, settings={"work_mem": "1234kB"}) as server:
        server.execute("SELECT 42 AS answer")

        assert server.execute(
            "SELECT e.extversion, s.calls, current_setting('work_mem')"
            " FROM pg_stat_statements s, pg_extension e"
            " WHERE s.query LIKE '%AS answer' AND e.extname = 'pg_stat_statements'"
        ) == [(extension, 1, "1234kB")]
        assert server.execute("SHOW server_version")[0][0].startswith(version)


def test_data_and_port_survive_a_restart_and_a_crash_and_nothing_is_left() -> None:
    with Postgres() as server:
        port, folder = server.port, server.folder
        server.execute("CREATE TABLE kept AS SELECT 7 AS seven")

        server.restart()
        server.execute("CHECKPOINT")
        server.kill()
        server.start()

        assert server.execute("SELECT seven FROM kept") == [(7,)]
        assert server.port == port
    assert not folder.exists()
    assert not _processes_of(folder)


def test_a_frozen_server_hangs_and_a_thawed_one_answers() -> None:
    with Postgres() as server:
        server.freeze()

        with pytest.raises(psycopg.errors.ConnectionTimeout):
            psycopg.connect(server.dsn, connect_timeout=2)

        server.thaw()
        assert server.execute("SELECT 1") == [(1,)]


def test_a_wrong_password_is_refused(postgres: Postgres) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication"):
        psycopg.connect(postgres.dsn_for(password="wrong"))  # noqa: S106


def test_a_pooler_stands_in_front(postgres: Postgres) -> None:
    with Pgbouncer(postgres) as pooler, psycopg.connect(pooler.dsn) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def _processes_of(folder: Path) -> list[str]:
    commands = [
        each.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        for each in Path("/proc").glob("[0-9]*/cmdline")
        if each.exists()
    ]
    return [command for command in commands if str(folder) in command]
