"""A primary and its standby: which one answers, and how far the other lags."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import fetch
from lab.postgres import Postgres, server_user
from lab.process import wait_until

from ..builders import Series, series
from ..exporting import exporting, reasons, statement_series

pytestmark = pytest.mark.servers

LAG = series("pg_replication_lag_seconds")
REPLAY_LAG = series("pg_replication_replay_lag_bytes", application_name="follower")


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Postgres, Postgres]]:
    with Postgres("17") as primary, _standby_of(primary) as standby:
        ((folder,),) = standby.execute("SHOW data_directory")
        standby.stop()
        shutil.rmtree(folder)
        _copy(primary, Path(folder))
        standby.start()
        yield primary, standby


def _standby_of(primary: Postgres) -> Postgres:
    # On the command line, because pg_basebackup may write it for another libpq.
    source = f"{primary.dsn} application_name=follower"
    return Postgres("17", settings={"primary_conninfo": source})


def _copy(primary: Postgres, folder: Path) -> None:
    """Make *folder* the data of a standby that follows *primary*."""
    program = fetch.postgres("17") / "bin" / "pg_basebackup"
    options = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
    subprocess.run(
        [
            program,
            f"--dbname={primary.dsn}",
            f"--pgdata={folder}",
            *options,
        ],
        check=True,
    )
    user = server_user()
    if user is not None:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, user, user)


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
