"""Texts that a database's encoding has no room for cost only themselves, at most."""

from __future__ import annotations

import io
from collections.abc import Iterator

import psycopg
import pytest

from exporter import logs
from lab.postgres import Postgres
from lab.process import wait_until

from ..builders import Series, series
from ..exporting import Exporter, exporting, reasons

pytestmark = pytest.mark.servers

FLAGS = ("--texts.enabled=true", "--texts.interval=50ms")
MISSING = series("pgverdict_exporter_texts_missing")


def create(server: Postgres, encoding: str, *, extension: bool) -> str:
    """A new database in *encoding*; its connection string."""
    database = f"in_{encoding}".lower()
    server.execute(
        f"CREATE DATABASE {database} ENCODING '{encoding}' TEMPLATE template0 "
        "LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    if extension:
        server.execute("CREATE EXTENSION pg_stat_statements", database=database)
    return server.dsn_for(database=database)


def run_bytes(dsn: str, statement: bytes) -> None:
    """Execute bytes that are not valid in any particular encoding."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET client_encoding = 'SQL_ASCII'")
        result = connection.pgconn.exec_(statement)
        assert not result.error_message, result.error_message


@pytest.fixture(params=["14", "18"])
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    with Postgres(request.param) as running:
        running.execute("CREATE TABLE t (a int)")
        running.execute("SELECT a FROM t")
        yield running


def texts(scraped: dict[Series, float]) -> set[str]:
    return {
        dict(labels)["query"]
        for name, labels in scraped
        if name == "pg_stat_statements_query_info"
    }


def wait_for_all(exporter: Exporter) -> dict[Series, float]:
    """A scrape with a text for every statement that is shown."""
    scrapes = [exporter.scrape()]

    def complete() -> bool:
        scrapes.append(exporter.scrape())
        return bool(texts(scrapes[-1])) and scrapes[-1][MISSING] == 0

    wait_until(complete, seconds=15, what="all texts")
    assert {frozenset(reasons(scraped)) for scraped in scrapes} == {frozenset()}
    return scrapes[-1]


def test_invalid_bytes_are_shown_escaped_and_cost_no_other_text(
    server: Postgres,
) -> None:
    raw = create(server, "SQL_ASCII", extension=True)
    run_bytes(raw, b'SELECT oid AS "caf\xe9" FROM pg_attrdef')

    with exporting(server.dsn, *FLAGS) as exporter:
        shown = texts(wait_for_all(exporter))

    assert 'SELECT oid AS "caf\\xe9" FROM pg_attrdef' in shown
    assert "SELECT a FROM t" in shown


def test_texts_without_equivalent_are_read_through_another_database(
    server: Postgres,
) -> None:
    """Each text by the encoding of its own database, and cut by characters."""
    narrow = create(server, "LATIN1", extension=True)
    create(server, "EUC_JP", extension=False)
    server.execute('SELECT oid AS "€ अ" FROM pg_attrdef')
    with psycopg.connect(narrow, autocommit=True) as connection:
        connection.execute('SELECT oid AS "é" FROM pg_attrdef')
    with psycopg.connect(
        server.dsn_for(database="in_euc_jp"), autocommit=True
    ) as connection:
        connection.execute('SELECT oid AS "日本" FROM pg_attrdef')

    with exporting(narrow, *FLAGS, "--texts.length=18") as exporter:
        shown = texts(wait_for_all(exporter))

    assert 'SELECT oid AS "€ अ' in shown
    assert 'SELECT oid AS "é" ' in shown
    assert 'SELECT oid AS "日本"' in shown


def test_in_a_database_of_any_bytes_texts_are_those_of_their_own_encoding(
    server: Postgres,
) -> None:
    raw = create(server, "SQL_ASCII", extension=True)
    narrow = create(server, "LATIN1", extension=False)
    with psycopg.connect(narrow, autocommit=True) as connection:
        connection.execute('SELECT oid AS "é" FROM pg_attrdef')
    server.execute('SELECT oid AS "слово" FROM pg_attrdef')
    run_bytes(raw, b'SELECT oid AS "\xff\xfe" FROM pg_attrdef')

    with exporting(raw, *FLAGS, "--texts.length=17") as exporter:
        shown = texts(wait_for_all(exporter))

    assert 'SELECT oid AS "é"' in shown
    assert 'SELECT oid AS "сл' in shown
    assert 'SELECT oid AS "\\x' in shown


def test_without_such_a_database_the_log_names_the_remedy(server: Postgres) -> None:
    raw = create(server, "SQL_ASCII", extension=False)
    run_bytes(raw, b'SELECT oid AS "caf\xe9" FROM pg_attrdef')

    stream = io.StringIO()
    logs.set_up("info", "logfmt", stream)
    with exporting(server.dsn, *FLAGS) as exporter:
        exporter.scrape()
        wait_until(
            lambda: "query texts could not be read" in stream.getvalue(),
            seconds=10,
            what="a log line about texts",
        )
        scraped = exporter.scrape()

    assert reasons(scraped) == set()
    assert "reason=encoding" in stream.getvalue()
    assert "CREATE EXTENSION pg_stat_statements" in stream.getvalue()
