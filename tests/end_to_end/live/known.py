"""Statements whose number of calls is known, and what PostgreSQL counted of them."""

from __future__ import annotations

from typing import NamedTuple

import psycopg

from lab.postgres import Postgres

USERS = ("anna", "bert")
DATABASES = ("books", "music")
TABLES = 6
PASSWORD = "lab"  # noqa: S105 - of throw-away servers on loopback
# Runs a statement that is also run by itself: the two differ in toplevel only.
NESTING = """
CREATE FUNCTION nesting() RETURNS void LANGUAGE plpgsql
    AS $$BEGIN PERFORM count(*) FROM t0; END$$
"""


class Statement(NamedTuple):
    """What tells rows of pg_stat_statements apart, by names."""

    user: str
    database: str
    queryid: str
    toplevel: str


class Row(NamedTuple):
    """What PostgreSQL counted, and the text it shows."""

    calls: int
    seconds: float
    text: str


class Known(NamedTuple):
    """One statement as it was run."""

    user: str
    database: str
    text: str
    toplevel: str


def create(postgres: Postgres) -> None:
    """Make users, databases and tables; the server should track nested statements."""
    for user in USERS:
        postgres.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{PASSWORD}'")
    for database in DATABASES:
        postgres.execute(f"CREATE DATABASE {database}")
        for number in range(TABLES):
            postgres.execute(f"CREATE TABLE t{number} (id int)", database=database)
            grant = f"GRANT SELECT ON t{number} TO {', '.join(USERS)}"
            postgres.execute(grant, database=database)
        postgres.execute(NESTING, database=database)


def run(postgres: Postgres) -> dict[Known, int]:
    """Run each statement another number of times; how often each was run."""
    calls: dict[Known, int] = {}
    for user in USERS:
        for database in DATABASES:
            dsn = postgres.dsn_for(user, PASSWORD, database)
            with psycopg.connect(dsn, autocommit=True) as connection:
                for number in range(TABLES):
                    text = f"SELECT count(*) FROM t{number}"  # noqa: S608
                    times = 3 + 7 * len(calls)
                    for _ in range(times):
                        connection.execute(text.encode())
                    calls[Known(user, database, text, "true")] = times
                times = 5 + len(calls)
                for _ in range(times):
                    connection.execute(b"SELECT nesting()")
                calls[Known(user, database, "SELECT nesting()", "true")] = times
                nested = "SELECT count(*) FROM t0"
                calls[Known(user, database, nested, "false")] = times
    return calls


def rows(postgres: Postgres) -> dict[Statement, Row]:
    """All rows of pg_stat_statements; this query itself is not yet among them."""
    found = postgres.execute(
        "SELECT rolname, datname, queryid::text, toplevel::text, calls,"
        " total_exec_time / 1000, query FROM pg_stat_statements s"
        " JOIN pg_roles r ON r.oid = s.userid JOIN pg_database d ON d.oid = s.dbid"
    )
    return {Statement(*row[:4]): Row(*row[4:]) for row in found}
