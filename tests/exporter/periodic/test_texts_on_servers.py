"""Query texts on a real server: apart from scrapes, cut, and none when off."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from bench.speed.statements import fill
from exporter.periodic.single_flight import SingleFlight
from exporter.periodic.text_reader import TextReader, TextSettings
from exporter.postgres.connecting.connection import ServerConnection
from exporter.postgres.connecting.dsn import fixed
from exporter.postgres.reading import SnapshotReader, Wanted
from lab.postgres import Postgres
from lab.process import wait_until

from ..builders import Series, series
from ..exporting import PG_UP, Exporter, exporting
from ..proxy import Proxy

pytestmark = pytest.mark.servers

WORDY = 150
FLAGS = ("--texts.enabled=true", "--texts.interval=50ms")


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres("17") as running:
        # Constants and aliases do not make a new statement, other columns do.
        running.execute('CREATE TABLE t (a int, b int, c int, d int, "слово" int)')
        yield running


def texts(scraped: dict[Series, float]) -> list[dict[str, str]]:
    return [
        dict(labels)
        for name, labels in scraped
        if name == "pg_stat_statements_query_info"
    ]


def shows(exporter: Exporter, beginning: str) -> dict[str, str]:
    """The labels of the text with this beginning, as soon as it is shown."""
    matching: list[dict[str, str]] = []

    def shown() -> bool:
        every = texts(exporter.scrape())
        matching[:] = [text for text in every if text["query"].startswith(beginning)]
        return bool(matching)

    wait_until(shown, seconds=10, what=f"a text that begins with {beginning!r}")
    return matching[0]


def test_texts_are_normalised_and_carry_a_fingerprint(server: Postgres) -> None:
    server.execute("SELECT a FROM t WHERE b = 42")

    with exporting(server.dsn, *FLAGS) as exporter:
        labels = shows(exporter, "SELECT a FROM t WHERE b = $1")

    assert len(labels["fingerprint"]) == 16
    assert {"user", "datname", "queryid", "toplevel"} < set(labels)


def test_texts_are_cut_by_characters_not_bytes(server: Postgres) -> None:
    server.execute('SELECT "слово", a FROM t')

    with exporting(server.dsn, *FLAGS, "--texts.length=12") as exporter:
        labels = shows(exporter, 'SELECT "с')

    assert labels["query"] == 'SELECT "слов'


def test_new_statements_get_their_text_later(server: Postgres) -> None:
    with exporting(server.dsn, *FLAGS) as exporter:
        shows(exporter, "SELECT")
        server.execute("SELECT c FROM t")

        assert shows(exporter, "SELECT c FROM t")


def test_a_table_created_again_changes_the_queryid_and_not_the_fingerprint(
    server: Postgres,
) -> None:
    server.execute("CREATE TABLE again (x int); SELECT x FROM again")

    with exporting(server.dsn, *FLAGS) as exporter:
        before = shows(exporter, "SELECT x FROM again")
        server.execute("SELECT pg_stat_statements_reset()")
        server.execute("DROP TABLE again; CREATE TABLE again (x int)")
        server.execute("SELECT x FROM again")
        after = shows(exporter, "SELECT x FROM again")

    assert before["queryid"] != after["queryid"]
    assert before["fingerprint"] == after["fingerprint"]


def test_secrets_in_statements_are_not_shown(server: Postgres) -> None:
    server.execute("CREATE ROLE secretive PASSWORD 'hunter2'")
    server.execute("SELECT d FROM t")

    with exporting(server.dsn, *FLAGS) as exporter:
        shows(exporter, "SELECT d FROM t")

        assert "hunter2" not in exporter.get().text


def missing(scraped: dict[Series, float]) -> float:
    return scraped[series("pgverdict_exporter_texts_missing")]


@pytest.fixture(scope="module")
def wordy() -> Iterator[Postgres]:
    """A server with WORDY statements of 20 kB each."""
    with Postgres("17") as running:
        fill(running, number=WORDY, text_bytes=20_000)
        yield running


def reader_of(connection: ServerConnection) -> TextReader:
    """A reader that has seen the statements and has a second for each read."""
    flights = SingleFlight(connection.abort)
    settings = TextSettings(length=200, interval=60, timeout=1)
    reader = TextReader("default", connection, flights, settings)
    seen = SnapshotReader(connection, Wanted(["calls"])).read(time.monotonic() + 10)
    assert seen.statements is not None
    reader.saw(seen.statements.keys)
    return reader


def test_texts_too_large_for_one_read_are_read_in_several(wordy: Postgres) -> None:
    """At 1 MB/s the network alone needs three seconds for them."""
    known = []

    with (
        Proxy(wordy.port) as proxy,
        closing(ServerConnection(fixed(proxy.dsn))) as connection,
    ):
        proxy.slow_to(1e6)
        reader = reader_of(connection)
        reader.read()
        while reader.missing:
            known.append(len(reader.book.known))
            reader.read()

    assert len(known) >= 2
    assert known == sorted(set(known)), "each read returned something"
    assert len(reader.book.known) >= WORDY
    assert (reader.failures, connection.attempts) == (0, 1)


def test_what_arrived_before_the_network_froze_is_kept(wordy: Postgres) -> None:
    with (
        Proxy(wordy.port) as proxy,
        closing(ServerConnection(fixed(proxy.dsn))) as connection,
    ):
        reader = reader_of(connection)
        proxy.stall_after(1_000_000)
        reader.read()
        known = len(reader.book.known)
        proxy.flow()
        reader.read()

    assert 0 < known < WORDY <= len(reader.book.known)
    assert (reader.failures, reader.missing) == (0, 0)


def test_texts_are_read_again_once_the_server_can_read_its_file(
    wordy: Postgres,
) -> None:
    """It returns NULL instead if it cannot, for example when it is out of memory."""
    file = wordy.folder / "data" / "pg_stat_tmp" / "pgss_query_texts.stat"
    aside = file.with_suffix(".aside")

    with closing(ServerConnection(fixed(wordy.dsn))) as connection:
        reader = reader_of(connection)
        file.rename(aside)
        reader.read()
        missing_then, known_then = reader.missing, len(reader.book.known)
        aside.rename(file)
        reader.read()

    assert (missing_then >= WORDY, known_then) == (True, 0)
    assert len(reader.book.known) >= WORDY


def test_scrapes_continue_while_large_texts_are_read(wordy: Postgres) -> None:
    flags = ("--texts.enabled=true", "--texts.interval=100ms", "--texts.timeout=1s")
    scrapes = []

    with Proxy(wordy.port) as proxy, exporting(proxy.dsn, *flags) as exporter:
        proxy.slow_to(1e6)

        def complete() -> bool:
            scrapes.append(exporter.scrape())
            return len(texts(scrapes[-1])) >= WORDY

        wait_until(complete, seconds=60, what="all texts")
        wait_until(lambda: missing(exporter.scrape()) == 0, seconds=5, what="the count")

    assert any(missing(scraped) for scraped in scrapes)
    assert {scraped[PG_UP] for scraped in scrapes} == {1}
    assert scrapes[-1][series("pgverdict_exporter_text_reads_failed_total")] == 0


def test_the_first_scrape_starts_the_first_read(server: Postgres) -> None:
    server.execute("SELECT a, b FROM t")

    with exporting(server.dsn, "--texts.enabled=true", "--texts.interval=1h") as late:
        assert shows(late, "SELECT a, b FROM t")


def test_when_off_no_text_leaves_the_server(server: Postgres) -> None:
    server.execute("SELECT b FROM t")
    server.execute("SELECT pg_stat_statements_reset()")

    with exporting(server.dsn, "--texts.interval=50ms") as exporter:
        pages = [exporter.get().text for _ in range(5)]

    queries = server.execute(
        "SELECT query FROM pg_stat_statements WHERE query LIKE '%octet_length(query)%'"
        " AND query NOT LIKE '%LIKE%'"
    )
    assert not [page for page in pages if "query_info" in page]
    assert queries == []
