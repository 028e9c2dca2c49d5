"""Query texts on a real server: apart from scrapes, cut, and not at all when off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.postgres import Postgres
from lab.process import wait_until

from .builders import Series
from .exporting import Exporter, exporting

pytestmark = pytest.mark.servers

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
