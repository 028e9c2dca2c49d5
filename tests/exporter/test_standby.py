"""A primary and its standby: who answers, and how far the other is behind."""

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

from .builders import Series, series
from .exporting import exporting, reasons, statement_series

pytestmark = pytest.mark.servers

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
    # On the command line: what pg_basebackup writes may be for another libpq.
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


def one(found: dict[Series, float], name: str) -> float:
    return found[series(name)]


def identity(found: dict[Series, float]) -> str:
    (labels,) = (dict(labels) for name, labels in found if name == "pg_server_info")
    return labels["system_identifier"]


def test_both_tell_who_they_are(pair: tuple[Postgres, Postgres]) -> None:
    primary, standby = pair
    with exporting(primary.dsn) as first, exporting(standby.dsn) as second:
        found = first.scrape(), second.scrape()

    assert [one(each, "pg_in_recovery") for each in found] == [0, 1]
    assert identity(found[0]) == identity(found[1])
    assert [reasons(each) for each in found] == [set(), set()]


def test_each_counts_its_own_statements(pair: tuple[Postgres, Postgres]) -> None:
    primary, standby = pair
    primary.execute("SELECT oid FROM pg_class")
    for _ in range(5):
        standby.execute("SELECT oid FROM pg_class")

    with exporting(primary.dsn) as first, exporting(standby.dsn) as second:
        found = [statement_series(each.scrape()) for each in (first, second)]

    calls = {
        which: (found[0][which], found[1][which])
        for which in found[0].keys() & found[1].keys()
        if which[0] == "pg_stat_statements_calls_total"
    }
    assert (1, 5) in calls.values()


def test_the_lag_is_seen_from_both_sides(pair: tuple[Postgres, Postgres]) -> None:
    primary, standby = pair
    with exporting(primary.dsn) as first, exporting(standby.dsn) as second:

        def lag() -> float:
            return first.scrape().get(REPLAY_LAG, -1)

        # Without a replayed transaction a standby cannot tell how late it is.
        primary.execute("CREATE TABLE early AS SELECT 1")
        wait_until(
            lambda: series("pg_replication_lag_seconds") in second.scrape(),
            seconds=10,
            what="a replayed transaction",
        )
        standby.execute("SELECT pg_wal_replay_pause()")
        primary.execute("CREATE TABLE late AS SELECT generate_series(1, 10000)")

        wait_until(lambda: lag() > 100_000, seconds=10, what="a lag")
        behind = one(second.scrape(), "pg_replication_lag_seconds")
        standby.execute("SELECT pg_wal_replay_resume()")
        wait_until(lambda: lag() == 0, seconds=10, what="no lag")

        assert behind > 0
        assert one(second.scrape(), "pg_replication_lag_seconds") == 0
