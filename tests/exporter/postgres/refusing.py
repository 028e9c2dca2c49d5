"""Makes a real server refuse what a managed service or a fork refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from lab.postgres import Postgres


@contextmanager
def system_tables(server: Postgres) -> Iterator[psycopg.Connection]:
    """A connection that may change the system's own functions and views."""
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("SET allow_system_table_mods = on")
        yield connection


def refuse_function(server: Postgres, signature: str, body: str) -> None:
    """Let a function of pg_catalog execute *body*, in plpgsql, and its views use that.

    The function itself cannot be changed: PostgreSQL calls its own by their number.
    """
    name, _, arguments = signature.partition("(")
    with system_tables(server) as connection:
        ((definition,),) = connection.execute(
            "SELECT pg_get_functiondef(%s::regprocedure)", [f"pg_catalog.{signature}"]
        )
        views = connection.execute(
            "SELECT relname, pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v' "
            "AND relnamespace = 'pg_catalog'::regnamespace"
        ).fetchall()
        # plpgsql takes no name twice, as an argument and as a column.
        head = definition.partition("\n LANGUAGE ")[0].replace("(pid ", "(asked ")
        rename = f"ALTER FUNCTION pg_catalog.{name}({arguments} RENAME TO {name}_core"
        create = f"{head} LANGUAGE plpgsql STABLE AS $body$BEGIN {body}; END$body$"
        connection.execute(rename.encode())
        connection.execute(create.encode())
        for view, text in views:
            if f"{name}(" in text:
                replace = f"CREATE OR REPLACE VIEW pg_catalog.{view} AS {text}"
                connection.execute(replace.encode())


def raising(sqlstate: str, message: str = "no") -> str:
    """The body of a function that only fails."""
    return f"RAISE EXCEPTION USING ERRCODE = '{sqlstate}', MESSAGE = '{message}'"


def replace_statements(server: Postgres, **changed: str) -> None:
    """Let pg_stat_statements(boolean) return other expressions in some columns."""
    columns = server.execute(
        "SELECT name, type FROM pg_proc, unnest(proargnames, "
        "proallargtypes::regtype[]::text[], proargmodes) AS c (name, type, mode) "
        "WHERE proname = 'pg_stat_statements' AND mode = 'o'"
    )
    types: dict[str, str] = dict(columns)
    types |= {name: sql.rpartition("::")[2] for name, sql in changed.items()}
    returned = ", ".join(f"{name} {kind}" for name, kind in types.items())
    selected = ", ".join(changed.get(name, name) for name in types)
    create = (
        f"CREATE FUNCTION pg_stat_statements(showtext boolean) "  # noqa: S608
        f"RETURNS TABLE ({returned}) LANGUAGE sql AS "
        f"$$SELECT {selected} FROM public.core_statements($1)$$"
    )
    for statement in (
        "ALTER EXTENSION pg_stat_statements DROP VIEW pg_stat_statements",
        "DROP VIEW pg_stat_statements",
        "ALTER FUNCTION pg_stat_statements(boolean) RENAME TO core_statements",
        create,
    ):
        server.execute(statement)
