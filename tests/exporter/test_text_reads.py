"""Query texts on a real server: apart from scrapes, cut, and not at all when off."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from bench.statements import fill
from exporter.database import Database
from exporter.dsn import fixed
from exporter.reading import Wanted, read_snapshot
from exporter.textreader import TextReader, TextSettings
from exporter.turns import Turns
from lab.postgres import Postgres
from lab.process import wait_until

from .builders import Series, series
from .exporting import PG_UP, Exporter, exporting
from .proxy import Proxy

pytestmark = pytest.mark.servers

WORDY = 150
FLAGS = ("--texts.enabled=true", "--texts.interval=50ms")


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres("17") as running:
        # Constants and aliases make no new statement, other columns do.
        running.execute('CREATE TABLE t (a int, b int, c int, d int, "слово" int)')
        yield running


def texts(found: dict[Series, float]) -> list[dict[str, str]]:
    return [
        dict(labels)
        for name, labels in found
        if name == "pg_stat_statements_query_info"
    ]


def shows(exporter: Exporter, beginning: str) -> dict[str, str]:
    """The labels of the text that begins so, as soon as it is there."""
    found: list[dict[str, str]] = []

    def look() -> bool:
        scraped = texts(exporter.scrape())
        found[:] = [one for one in scraped if one["query"].startswith(beginning)]
        return bool(found)

    wait_until(look, seconds=10, what=f"a text that begins with {beginning!r}")
    return found[0]


def test_texts_are_normalised_and_carry_a_fingerprint(server: Postgres) -> None:
    server.execute("SELECT a FROM t WHERE b = 42")

    with exporting(server.dsn, *FLAGS) as exporter:
        found = shows(exporter, "SELECT a FROM t WHERE b = $1")

    assert len(found["fingerprint"]) == 16
    assert {"user", "datname", "queryid", "toplevel"} < set(found)


def test_texts_are_cut_by_characters_not_bytes(server: Postgres) -> None:
    server.execute('SELECT "слово", a FROM t')

    with exporting(server.dsn, *FLAGS, "--texts.length=12") as exporter:
        found = shows(exporter, 'SELECT "с')

    assert found["query"] == 'SELECT "слов'


def test_new_statements_get_their_text_later(server: Postgres) -> None:
    with exporting(server.dsn, *FLAGS) as exporter:
        shows(exporter, "SELECT")
        server.execute("SELECT c FROM t")

        assert shows(exporter, "SELECT c FROM t")


def test_a_table_made_anew_changes_the_queryid_and_not_the_fingerprint(
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


def missing(found: dict[Series, float]) -> float:
    return found[series("pgverdict_exporter_texts_missing")]


@pytest.fixture(scope="module")
def wordy() -> Iterator[Postgres]:
    """A server with WORDY statements of 20 kB each."""
    with Postgres("17") as running:
        fill(running, number=WORDY, text_bytes=20_000)
        yield running


def reader_of(database: Database) -> TextReader:
    """One that has seen the statements, has a second for each read, and waits."""
    turns = Turns(database.abort)
    reader = TextReader("default", database, turns, TextSettings(timeout=1))
    seen = read_snapshot(database, Wanted(["calls"]), time.monotonic() + 10)
    assert seen.statements is not None
    reader.saw(seen.statements.keys)
    return reader


def test_texts_too_large_for_one_read_are_learnt_in_several(wordy: Postgres) -> None:
    """At 1 MB/s the network alone needs three seconds for them."""
    known = []

    with Proxy(wordy.port) as proxy, closing(Database(fixed(proxy.dsn))) as database:
        proxy.slow_to(1e6)
        reader = reader_of(database)
        reader.read()
        while reader.missing:
            known.append(len(reader.book.known))
            reader.read()

    assert len(known) >= 2
    assert known == sorted(set(known)), "each read brought something"
    assert len(reader.book.known) >= WORDY
    assert (reader.failures, database.connects) == (0, 1)


def test_what_came_before_the_network_froze_is_learnt(wordy: Postgres) -> None:
    with Proxy(wordy.port) as proxy, closing(Database(fixed(proxy.dsn))) as database:
        reader = reader_of(database)
        proxy.stall_after(1_000_000)
        reader.read()
        known = len(reader.book.known)
        proxy.flow()
        reader.read()

    assert 0 < known < WORDY <= len(reader.book.known)
    assert (reader.failures, reader.missing) == (0, 0)


def test_texts_are_asked_for_again_once_the_server_can_read_them(
    wordy: Postgres,
) -> None:
    """It shows NULL in their place when it cannot, for example without memory."""
    file = wordy.folder / "data" / "pg_stat_tmp" / "pgss_query_texts.stat"
    aside = file.with_suffix(".aside")

    with closing(Database(fixed(wordy.dsn))) as database:
        reader = reader_of(database)
        file.rename(aside)
        reader.read()
        missing_then, known_then = reader.missing, len(reader.book.known)
        aside.rename(file)
        reader.read()

    assert (missing_then >= WORDY, known_then) == (True, 0)
    assert len(reader.book.known) >= WORDY


def test_scrapes_go_on_while_large_texts_are_learnt(wordy: Postgres) -> None:
    flags = ("--texts.enabled=true", "--texts.interval=100ms", "--texts.timeout=1s")
    scrapes = []

    with Proxy(wordy.port) as proxy, exporting(proxy.dsn, *flags) as exporter:
        proxy.slow_to(1e6)

        def look() -> bool:
            scrapes.append(exporter.scrape())
            return len(texts(scrapes[-1])) >= WORDY

        wait_until(look, seconds=60, what="all texts")
        wait_until(lambda: missing(exporter.scrape()) == 0, seconds=5, what="the count")

    assert any(missing(found) for found in scrapes)
    assert {found[PG_UP] for found in scrapes} == {1}
    assert scrapes[-1][series("pgverdict_exporter_text_reads_failed_total")] == 0


def test_the_first_scrape_starts_the_first_read(server: Postgres) -> None:
    server.execute("SELECT a, b FROM t")

    with exporting(server.dsn, "--texts.enabled=true", "--texts.interval=1h") as late:
        assert shows(late, "SELECT a, b FROM t")


def test_switched_off_no_text_leaves_the_server(server: Postgres) -> None:
    server.execute("SELECT b FROM t")
    server.execute("SELECT pg_stat_statements_reset()")

    with exporting(server.dsn, "--texts.interval=50ms") as exporter:
        pages = [exporter.get().text for _ in range(5)]

    asked = server.execute(
        "SELECT query FROM pg_stat_statements WHERE query LIKE '%octet_length(query)%'"
        " AND query NOT LIKE '%LIKE%'"
    )
    assert not [page for page in pages if "query_info" in page]
    assert asked == []
