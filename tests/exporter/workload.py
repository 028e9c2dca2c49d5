"""A server with statements that are hard to distinguish."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from lab.postgres import Postgres

# Of a table; each selection of its columns is a statement of its own.
COLUMNS = tuple(f"c{number}" for number in range(9))
MONITOR = "pgverdict"
PASSWORD = "lab"  # noqa: S105 - of a throw-away server
# 63 bytes, the longest possible name; quotes, a newline, another script.
ROLES = ("app", "п" * 31 + "x", 'quo"ted\nrole')
DATABASES = ("shop", "データベース", 'back\\slash "db"')
SETTINGS = {
    "pg_stat_statements.track": "all",
    "pg_stat_statements.track_planning": "on",
    "track_io_timing": "on",
    "work_mem": "64kB",
}


@contextmanager
def busy_server(version: str, extension: str | None = None) -> Iterator[Postgres]:
    """A server after a workload, which no longer counts executions.

    Args:
        extension: version of pg_stat_statements to create; the newest by default.
    """
    with Postgres(version, extension=False) as server:
        # Not on the command line, where they could not be changed later.
        for name, value in SETTINGS.items():
            server.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        server.restart()
        which = f" VERSION '{extension}'" if extension else ""
        server.execute(f"CREATE EXTENSION pg_stat_statements{which}")
        _monitor(server)
        for database in DATABASES:
            _prepare(server, database)
        for repetition, role in enumerate(ROLES, start=1):
            for database in DATABASES:
                _work(server, role, database, repetition)
        server.execute("ALTER SYSTEM SET pg_stat_statements.track = 'none'")
        server.restart()
        yield server


def monitor_dsn(server: Postgres) -> str:
    """The exporter's own login: pg_read_all_stats and nothing else."""
    return server.dsn_for(user=MONITOR, password=PASSWORD)


def create_wide_table(server: Postgres) -> None:
    """The table for :func:`run_selections`."""
    server.execute(f"CREATE TABLE wide ({' int, '.join(COLUMNS)} int)")


def run_selections(server: Postgres, numbers: range, times: int) -> None:
    """Execute statements by their *numbers*, from 1 to 511, each so many times."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        for number in numbers:
            chosen = [name for i, name in enumerate(COLUMNS) if number >> i & 1]
            names = sql.SQL(", ").join(map(sql.Identifier, chosen))
            for _ in range(times):
                connection.execute(sql.SQL("SELECT {} FROM wide").format(names))


def _monitor(server: Postgres) -> None:
    server.execute(
        f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}' IN ROLE pg_read_all_stats"
    )
    for role in ROLES:
        server.execute(_quoted("CREATE ROLE {} LOGIN PASSWORD 'lab'", role))


def _prepare(server: Postgres, database: str) -> None:
    server.execute(_quoted("CREATE DATABASE {}", database))
    for statement in (
        "CREATE TABLE items (id int, name text)",
        "INSERT INTO items SELECT i, md5(i::text) FROM generate_series(1, 2000) i",
        "GRANT ALL ON items TO PUBLIC",
        "CREATE FUNCTION total() RETURNS bigint LANGUAGE sql AS "
        "'SELECT count(*) FROM items'",
    ):
        server.execute(statement, database=database)


def _work(server: Postgres, role: str, database: str, repetition: int) -> None:
    dsn = server.dsn_for(user=role, database=database)
    with psycopg.connect(dsn, autocommit=True) as connection:
        for _ in range(repetition):
            # The same statement at top level and inside a function.
            connection.execute("SELECT count(*) FROM items")
            connection.execute("SELECT total()")
            connection.execute("SELECT * FROM items ORDER BY name, id")
            connection.execute("INSERT INTO items SELECT max(id) + 1 FROM items")
        # Enough different ids that some are negative.
        connection.execute("SELECT id FROM items LIMIT 3")
        connection.execute("SELECT name FROM items LIMIT 3")
        connection.execute("SELECT id, name FROM items LIMIT 3")
        connection.execute("SELECT name, id FROM items LIMIT 3")
        connection.execute("SELECT max(id) FROM items LIMIT 3")
        connection.execute("SELECT min(id) FROM items LIMIT 3")


def _quoted(statement: str, name: str) -> str:
    return sql.SQL(statement).format(sql.Identifier(name)).as_string()
