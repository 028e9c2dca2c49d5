"""Which deploy is where in its life, and what was said about it: one sqlite file.

waiting → judged → published. The report is stored by the statement that leaves
``waiting``, before anybody is told, so that a crash in between is made good after the
next start. A waiting deploy may have a provisional report of an earlier look.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from types import TracebackType

import msgspec

from ..errors import ConfigurationError
from ..model import Deploy, Report

_SCHEMA = """
create table if not exists deploys (
    id text primary key,
    at real not null,
    deploy blob not null,
    state text not null,
    due_at real not null,
    report blob
) strict
"""
_VERSION = 1


class State(StrEnum):
    """Where a deploy is in its life."""

    WAITING = "waiting"
    JUDGED = "judged"
    PUBLISHED = "published"


class Ledger:
    """The evaluator's memory. One process at a time holds it.

    Args:
        path: the file, made where there is none; ``:memory:`` remembers nothing.

    Raises:
        ConfigurationError: the file is no ledger, cannot be written, or is held by
            another evaluator.
    """

    def __init__(self, path: str) -> None:
        self._lock = _lock(path)
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("pragma journal_mode = wal")
            # A verdict that was told must not be forgotten by a power cut.
            self._db.execute("pragma synchronous = full")
            version = self._db.execute("pragma user_version").fetchone()[0]
            if version not in (0, _VERSION):
                raise ConfigurationError(
                    f"service.state: {path} was written by another version of "
                    f"pgverdict (format {version}, here {_VERSION}); name a new file"
                )
            self._db.execute(_SCHEMA)
            self._db.execute(f"pragma user_version = {_VERSION}")
        except sqlite3.Error as error:
            self._unlock()
            raise ConfigurationError(
                f"service.state: {path} cannot be used: {error}; "
                "name a file in a folder that can be written"
            ) from error

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()
        self._unlock()

    def note(self, deploy: Deploy, due_at: float) -> bool:
        """Take up *deploy*, to be looked at from *due_at* on; True when it was new.

        One that was never looked at may still change.
        """
        with self._transaction():
            known = self._db.execute(
                "select 1 from deploys where id = ?", (deploy.id,)
            ).fetchone()
            self._db.execute(
                "insert into deploys (id, at, deploy, state, due_at) "
                "values (?, ?, ?, ?, ?) on conflict (id) do update set "
                "at = excluded.at, deploy = excluded.deploy, due_at = excluded.due_at "
                "where state = ? and report is null and deploy <> excluded.deploy",
                (
                    deploy.id,
                    deploy.at,
                    msgspec.json.encode(deploy),
                    State.WAITING,
                    due_at,
                    State.WAITING,
                ),
            )
        return known is None

    def due(self, now: float) -> list[tuple[Deploy, Report | None]]:
        """Waiting deploys whose time has come, with what an earlier look said."""
        rows = self._db.execute(
            "select deploy, report from deploys where state = ? and due_at <= ? "
            "order by at, id",
            (State.WAITING, now),
        )
        return [
            (
                msgspec.json.decode(deploy, type=Deploy),
                None if report is None else msgspec.json.decode(report, type=Report),
            )
            for deploy, report in rows
        ]

    def between(self, start: float, end: float) -> list[Deploy]:
        """All deploys that happened between two moments, whatever became of them."""
        rows = self._db.execute(
            "select deploy from deploys where at between ? and ? order by at, id",
            (start, end),
        )
        return [msgspec.json.decode(row[0], type=Deploy) for row in rows]

    def postpone(self, deploy: Deploy, until: float) -> None:
        """Do not look at *deploy* again before *until*."""
        self._db.execute(
            "update deploys set due_at = ? where id = ? and state = ?",
            (until, deploy.id, State.WAITING),
        )

    def keep(self, report: Report, next_look: float) -> None:
        """Remember what an early look said, and when to look again."""
        self._db.execute(
            "update deploys set report = ?, due_at = ? where id = ? and state = ?",
            (
                msgspec.json.encode(report),
                next_look,
                report.deploy.id,
                State.WAITING,
            ),
        )

    def decide(self, report: Report) -> None:
        """Remember what is going to be said about a deploy, for good."""
        self._db.execute(
            "update deploys set state = ?, report = ? where id = ? and state = ?",
            (
                State.JUDGED,
                msgspec.json.encode(report),
                report.deploy.id,
                State.WAITING,
            ),
        )

    def unpublished(self) -> list[Report]:
        """Reports that were decided and not yet told, the oldest first."""
        return self._reports("state = ?", State.JUDGED)

    def published(self, report: Report) -> None:
        """The report has been told."""
        self._db.execute(
            "update deploys set state = ? where id = ?",
            (State.PUBLISHED, report.deploy.id),
        )

    def reports(self, since: float) -> list[Report]:
        """Everything decided about deploys after *since*, the oldest first."""
        return self._reports("report is not null and at > ?", since)

    def waiting(self) -> int:
        """Number of deploys that are not judged yet."""
        row = self._db.execute(
            "select count(*) from deploys where state = ?", (State.WAITING,)
        )
        return int(row.fetchone()[0])

    def forget(self, before: float) -> None:
        """Drop deploys older than *before*, whatever became of them."""
        self._db.execute("delete from deploys where at < ?", (before,))

    def _reports(self, where: str, value: object) -> list[Report]:
        rows = self._db.execute(
            f"select report from deploys where {where} order by at, id",  # noqa: S608
            (value,),
        )
        return [msgspec.json.decode(row[0], type=Report) for row in rows]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)


def _lock(path: str) -> int | None:
    """Hold the file against a second evaluator; the system lets go when we die."""
    if path == ":memory:":
        return None
    try:
        lock = os.open(Path(f"{path}.lock"), os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise ConfigurationError(
            f"service.state: {path} cannot be written: {error.strerror}; "
            "name a file in a folder that can be written"
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise ConfigurationError(
            f"service.state: {path} is held by another evaluator; "
            "stop it, or give this one a file of its own"
        ) from error
    return lock
