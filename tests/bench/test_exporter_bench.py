"""The measurements of the exporter run in small and print their tables."""

from __future__ import annotations

import pytest

from bench.speed import exporter, soak
from bench.speed.exporter import check_same
from bench.speed.exporters import statement_samples
from bench.speed.soak import Asked, Tally, summary
from bench.speed.statements import fill
from lab.postgres import Postgres


def test_pages_that_differ_are_not_compared():
    page = b'pg_stat_statements_calls_total{queryid="%d"} 3\n'

    assert check_same(page % 1, page % 1) == 1
    with pytest.raises(RuntimeError, match="differ in 2 samples"):
        check_same(page % 1, page % 2)


def test_empty_pages_are_not_comparison():
    with pytest.raises(RuntimeError, match="differ"):
        check_same(b"", b"")


def test_samples_are_reported_apart_by_labels_in_any_order():
    ours = b'pg_stat_statements_calls_total{user="a",queryid="1"} 3\n'
    theirs = b'pg_stat_statements_calls_total{queryid="1",server="x:1",user="a"} 3.0\n'

    assert statement_samples(ours) == statement_samples(theirs)


def test_a_scrape_lost_outside_the_restarts_is_reported():
    tally = Tally(
        scrapes=[Asked(0, 1, up=True), Asked(4, 5, up=False), Asked(9, 10, up=False)],
        memory=[50.0, 50.0, 50.0],
        files=[8],
        connections=[1],
        restarts=[(4.5, 6.0)],
    )

    printed = summary(tally)

    assert "| reported as down | 1 |" in printed
    assert "| lost | 1 | 0 | **missed** |" in printed


@pytest.mark.servers
def test_each_statement_becomes_an_entry_with_its_long_text():
    with Postgres() as server:
        fill(server, number=700, text_bytes=2_000)

        found = server.execute(
            "SELECT count(DISTINCT queryid), min(calls), min(length(query)) "
            "FROM pg_stat_statements WHERE query LIKE '%FROM t'"
        )

    assert found[0][:2] == (700, 3)
    assert found[0][2] > 2_000


@pytest.mark.servers
def test_both_exporters_are_measured_in_turn(capsys):
    small = ["--rounds=1", "--statements=50", "--many=150", "--megabytes=1"]

    exporter.main([*small, "--counters", "12"])

    printed = capsys.readouterr().out
    assert "| 12 | plain |" in printed
    assert "| 12 | gzip |" in printed
    assert "| ≤ 60 |" in printed
    assert "| shown |" in printed
    assert "### 50 and 150 statements" in printed


@pytest.mark.servers
def test_a_short_soak_restarts_the_server_and_sums_up(capsys):
    soak.main(["--minutes", "0.15", "--restart-every", "3"])

    printed = capsys.readouterr().out
    assert "| connections at any time | 1 | 1 | reached |" in printed
    assert "| lost | 0 | 0 | reached |" in printed
    assert "| restarts of PostgreSQL | 0 |" not in printed
