"""A primary and its standby: which one answers, and how far the other lags."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from exporter.postgres.connecting.connection import ServerConnection
from exporter.postgres.connecting.dsn import fixed
from exporter.postgres.connecting.facts import Facts
from exporter.postgres.connecting.session import Session
from exporter.postgres.context import CONTEXT
from exporter.postgres.measures import measures_query, server_measures
from exporter.values.missing import Refused
from lab.postgres import Postgres
from lab.process import wait_until

from ..builders import Series, series
from ..exporting import PG_UP, exporting, reasons, statement_series
from .standby import FOLLOWER, primary_and_standby

pytestmark = pytest.mark.servers

RECOVERY = series("pg_in_recovery")
PG_STARTED = series("pg_postmaster_start_time_seconds")
ASKED = [*server_measures("public"), *(m for m in CONTEXT if "replication" in m.name)]
LAG = series("pg_replication_lag_seconds")
REPLAY_LAG = series("pg_replication_replay_lag_bytes", application_name=FOLLOWER)


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Postgres, Postgres]]:
    with primary_and_standby() as both:
        yield both


def identity(scraped: dict[Series, float]) -> str:
    (labels,) = (dict(labels) for name, labels in scraped if name == "pg_server_info")
    return labels["system_identifier"]


def test_both_show_which_server_they_are(pair: tuple[Postgres, Postgres]) -> None:
    primary, standby = pair
    with exporting(primary.dsn) as first, exporting(standby.dsn) as second:
        scrapes = first.scrape(), second.scrape()

    assert [each[series("pg_in_recovery")] for each in scrapes] == [0, 1]
    assert identity(scrapes[0]) == identity(scrapes[1])
    assert [reasons(each) for each in scrapes] == [set(), set()]


def test_each_counts_its_own_statements(pair: tuple[Postgres, Postgres]) -> None:
    primary, standby = pair
    primary.execute("SELECT oid FROM pg_class")
    for _ in range(5):
        standby.execute("SELECT oid FROM pg_class")

    with exporting(primary.dsn) as first, exporting(standby.dsn) as second:
        on_primary, on_standby = (
            statement_series(each.scrape()) for each in (first, second)
        )

    calls = {
        shared: (on_primary[shared], on_standby[shared])
        for shared in on_primary.keys() & on_standby.keys()
        if shared[0] == "pg_stat_statements_calls_total"
    }
    assert (1, 5) in calls.values()


def test_the_lag_is_shown_on_both_sides(pair: tuple[Postgres, Postgres]) -> None:
    primary, standby = pair
    with exporting(primary.dsn) as first, exporting(standby.dsn) as second:

        def lag() -> float:
            return first.scrape().get(REPLAY_LAG, -1)

        # Without a replayed transaction a standby does not know its lag.
        primary.execute("CREATE TABLE early AS SELECT 1")
        wait_until(
            lambda: LAG in second.scrape(),
            seconds=10,
            what="a replayed transaction",
        )
        standby.execute("SELECT pg_wal_replay_pause()")
        primary.execute("CREATE TABLE late AS SELECT generate_series(1, 10000)")

        wait_until(lambda: lag() > 100_000, seconds=10, what="a lag")
        behind = second.scrape()[LAG]
        standby.execute("SELECT pg_wal_replay_resume()")
        wait_until(lambda: lag() == 0, seconds=10, what="no lag")

        wait_until(lambda: second.scrape()[LAG] == 0, seconds=10, what="no lag there")

        assert behind > 0


@pytest.mark.parametrize("version", ["14", "18"])
def test_scrapes_during_a_promotion_are_complete(version: str) -> None:
    """The connection stays, and the page says of each scrape which role answered."""
    with (
        primary_and_standby(version) as (primary, standby),
        exporting(standby.dsn, "--texts.enabled=true") as exporter,
        ThreadPoolExecutor(1) as pool,
    ):
        primary.execute("CREATE TABLE t AS SELECT 1 AS a")
        scrapes = [exporter.scrape()]
        promotion = pool.submit(standby.execute, "SELECT pg_promote()")
        while not promotion.done() or scrapes[-1][RECOVERY]:
            scrapes.append(exporter.scrape())
        scrapes += [exporter.scrape() for _ in range(3)]
        connects = scrapes[-1][series("pgverdict_exporter_connects_total")]

    assert promotion.result() == [(True,)]
    assert [reasons(scraped) for scraped in scrapes] == [set()] * len(scrapes)
    assert {scraped[PG_UP] for scraped in scrapes} == {1}
    assert all(statement_series(scraped) for scraped in scrapes)
    roles = [scraped[RECOVERY] for scraped in scrapes]
    assert (roles[0], roles[-1], roles) == (1, 0, sorted(roles, reverse=True))
    assert len({identity(scraped) for scraped in scrapes}) == 1
    assert connects == 1
    # A standby's lag is not shown once it is none any more.
    assert LAG not in scrapes[-1]
    assert all(
        after[PG_STARTED] == before[PG_STARTED] for before, after in pairwise(scrapes)
    )


def test_a_promotion_between_two_questions_of_one_scrape() -> None:
    """Whatever the role was when the transaction began, each answer is of its time."""
    with primary_and_standby() as (_, standby):
        connection = ServerConnection(fixed(standby.dsn))

        def work(session: Session, _: Facts) -> list[object]:
            before = session.optional(measures_query(ASKED))
            standby.execute("SELECT pg_promote()")
            return [before, session.optional(measures_query(ASKED))]

        before, after = connection.transact(work, time.monotonic() + 60)
        connection.close()

    assert not isinstance(before, Refused)
    assert not isinstance(after, Refused)
