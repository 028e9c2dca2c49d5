"""Fill pg_stat_statements with as many different statements as wanted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

import psycopg

from lab.postgres import Postgres

DATABASE = "shop"
_COLUMNS = 16
_TOGETHER = 500
_BYTES_TOGETHER = 4_000_000


def fill(server: Postgres, *, number: int, text_bytes: int = 0) -> None:
    """Run *number* statements three times each, and count nothing more from then on.

    Every set of columns has a queryid of its own. A comment makes the text longer: the
    extension keeps it and *queryid* does not depend on it.

    Args:
        number: at most 65,535, and less than ``pg_stat_statements.max``.
        text_bytes: least length of each statement's text.
    """
    server.execute("ALTER SYSTEM SET pg_stat_statements.track = 'none'")
    server.execute("SELECT pg_reload_conf()")
    server.execute(f"CREATE DATABASE {DATABASE}")
    names = ", ".join(f"c{column} int" for column in range(_COLUMNS))
    server.execute(f"CREATE TABLE t ({names})", database=DATABASE)
    server.execute(
        "INSERT INTO t SELECT FROM generate_series(1, 20)", database=DATABASE
    )
    server.execute("SELECT pg_stat_statements_reset()")
    dsn = server.dsn_for(database=DATABASE)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET pg_stat_statements.track = 'top'")
        for script in _scripts(islice(statements(text_bytes), number)):
            for _ in range(3):
                connection.execute(script)
        connection.execute("SET pg_stat_statements.track = 'none'")


def statements(text_bytes: int = 0) -> Iterator[bytes]:
    """65,535 statements, each with a queryid of its own."""
    padding = f"/*{'x' * text_bytes}*/" if text_bytes else ""
    for size in range(1, _COLUMNS + 1):
        for chosen in combinations(range(_COLUMNS), size):
            names = ",".join(f"c{column}" for column in chosen)
            yield f"SELECT {padding} {names} FROM t".encode()  # noqa: S608


def _scripts(statements: Iterator[bytes]) -> Iterator[bytes]:
    """Many statements in one message: each is counted by itself."""
    script: list[bytes] = []
    for statement in statements:
        script.append(statement)
        if len(script) * len(statement) > _BYTES_TOGETHER or len(script) >= _TOGETHER:
            yield b";".join(script)
            script = []
    if script:
        yield b";".join(script)
