"""Names that are not UTF-8, names that were dropped, and names that change."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from lab.postgres import Postgres

from ...builders import Series, samples, series
from ...exporting import exporting, reasons

pytestmark = pytest.mark.servers

SKIPPED = "pgverdict_exporter_statements_skipped"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres("17") as running:
        running.execute(
            "CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0 "
            "LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        yield running


def users(scraped: dict[Series, float]) -> set[str]:
    return {dict(labels)["user"] for _, labels in scraped if "user" in dict(labels)}


def as_role(server: Postgres, name: bytes, query: bytes) -> None:
    """Run *query* as a new role whose name is any bytes."""
    with psycopg.connect(
        server.dsn_for(database="bytes"), autocommit=True
    ) as connection:
        execute = connection.pgconn.exec_
        for statement in (
            b'CREATE ROLE "' + name + b'" SUPERUSER',
            b'SET ROLE "' + name + b'"',
            query,
        ):
            result = execute(statement)
            assert not result.error_message, result.error_message


def test_a_name_that_is_not_utf8_is_shown_escaped(server: Postgres) -> None:
    as_role(server, b"caf\xe9", b"SELECT oid FROM pg_class")

    with exporting(server.dsn) as exporter:
        reply = exporter.get()

    assert "caf\\xe9" in users(samples(reply.content.decode("utf-8", "strict")))


def test_two_names_that_look_the_same_are_counted_instead(server: Postgres) -> None:
    as_role(server, b"twin\xe9", b"SELECT oid FROM pg_type")
    as_role(server, b"twin\\xe9", b"SELECT oid FROM pg_type")

    with exporting(server.dsn) as exporter:
        scraped = exporter.scrape()

    assert not {user for user in users(scraped) if user.startswith("twin")}
    assert scraped[series(SKIPPED, reason="same_name")] >= 2


def test_statements_of_a_dropped_database_are_counted(server: Postgres) -> None:
    server.execute("CREATE DATABASE gone")
    server.execute("SELECT oid FROM pg_proc", database="gone")
    with exporting(server.dsn) as exporter:
        before = exporter.scrape()
        server.execute("DROP DATABASE gone")
        after = exporter.scrape()

    skipped = series(SKIPPED, reason="database_dropped")
    assert (before[skipped], after[skipped] > 0) == (0, True)
    assert not [labels for _, labels in after if ("datname", "gone") in labels]
    assert reasons(after) == set()


def test_a_renamed_role_keeps_its_statements_under_the_new_name(
    server: Postgres,
) -> None:
    as_role(server, b"maiden", b"SELECT indexrelid FROM pg_index")
    with exporting(server.dsn) as exporter:
        before = users(exporter.scrape())
        server.execute("ALTER ROLE maiden RENAME TO married")
        after = users(exporter.scrape())

    assert "maiden" in before - after
    assert "married" in after - before


@pytest.mark.parametrize("encoding", ["EUC_JP", "LATIN1", "SQL_ASCII"])
def test_a_name_is_the_same_in_a_database_of_any_encoding(
    server: Postgres, encoding: str
) -> None:
    """The servers' catalogs of roles and databases are shared by all of them."""
    server.execute(f'CREATE ROLE "€ अ {encoding}"')
    server.execute(f'SET ROLE "€ अ {encoding}"; TABLE pg_cast')

    with exporting(server.dsn) as first:
        from_utf8 = users(first.scrape())
    with exporting(in_encoding(server, encoding)) as second:
        scraped = second.scrape()

    assert f"€ अ {encoding}" in from_utf8
    assert f"€ अ {encoding}" in users(scraped)
    assert (scraped[series("pg_up")], reasons(scraped)) == (1, set())


def in_encoding(server: Postgres, encoding: str) -> str:
    """Connection string of a new database."""
    database = f"in_{encoding}".lower()
    server.execute(
        f"CREATE DATABASE {database} ENCODING '{encoding}' TEMPLATE template0 "
        "LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    server.execute("CREATE EXTENSION pg_stat_statements", database=database)
    return server.dsn_for(database=database)
