"""Names that are not UTF-8, names that were dropped, and names that change."""

from __future__ import annotations

import io
from collections.abc import Iterator

import psycopg
import pytest

from exporter import logs
from lab.postgres import Postgres
from lab.process import wait_until

from ..builders import Series, samples, series
from ..exporting import exporting, reasons

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


def test_texts_of_another_encoding_do_no_harm(server: Postgres) -> None:
    as_role(server, b"writer", b'SELECT oid AS "\xe9" FROM pg_attrdef')

    flags = ("--texts.enabled=true", "--texts.interval=50ms")
    with exporting(server.dsn, *flags) as exporter:
        scrapes = [exporter.scrape() for _ in range(10)]

    assert {frozenset(reasons(scraped)) for scraped in scrapes} == {frozenset()}


def in_encoding(server: Postgres, encoding: str) -> str:
    """Connection string of a new database."""
    server.execute(
        f"CREATE DATABASE {encoding} ENCODING '{encoding}' TEMPLATE template0 "
        "LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    database = encoding.lower()
    server.execute("CREATE EXTENSION pg_stat_statements", database=database)
    return server.dsn_for(database=database)


def test_a_text_without_equivalent_in_the_encoding_is_logged_as_that(
    server: Postgres,
) -> None:
    server.execute('SELECT oid AS "€ अ" FROM pg_attrdef')

    flags = ("--texts.enabled=true", "--texts.interval=50ms")
    stream = io.StringIO()
    logs.set_up("info", "logfmt", stream)
    with exporting(in_encoding(server, "LATIN1"), *flags) as exporter:
        exporter.scrape()
        wait_until(
            lambda: "query texts" in stream.getvalue(),
            seconds=10,
            what="a log line about texts",
        )

    assert "reason=encoding" in stream.getvalue()
    assert "whose encoding is UTF8" in stream.getvalue()


def test_a_name_without_equivalent_in_the_encoding_is_a_problem(
    server: Postgres,
) -> None:
    server.execute('CREATE ROLE "€ अ"')

    with exporting(in_encoding(server, "EUC_JP")) as exporter:
        scraped = exporter.scrape()

    assert (scraped[series("pg_up")], reasons(scraped)) == (1, {"encoding"})
