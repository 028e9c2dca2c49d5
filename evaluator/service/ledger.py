"""The state of each deploy and its report: one sqlite file.

waiting → judged → published. The report is stored by the statement that leaves
``waiting``, before it is published, so that a crash in between is made good after the
next start. A waiting deploy may have a provisional report of an earlier look.

One thread of one process writes: sqlite refuses others here, and other threads hand in
deploys by the inbox.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from types import TracebackType

from ..errors import ConfigurationError
from ..model import Deploy, Report
from . import rows
from .file_lock import FileLock

_SCHEMA = """
create table if not exists deploys (
    id text primary key,
    at real not null,
    deploy blob not null,
    state text not null,
    due_at real not null,
    report blob,
    version integer not null
) strict
"""
# Of the table; what its rows hold has a version of its own.
_FORMAT = 2


class State(StrEnum):
    """Where a deploy is in its life."""

    WAITING = "waiting"
    JUDGED = "judged"
    PUBLISHED = "published"


class Ledger:
    """The evaluator's memory. One process at a time holds it.

    Args:
        path: the file, made where there is none; ``:memory:`` remembers nothing. A file
            of an earlier version is brought up to date, all of it or nothing.

    Raises:
        ConfigurationError: the file is not a ledger, is of a later version, cannot be
            written, or is held by another evaluator.
    """

    def __init__(self, path: str) -> None:
        self._lock = FileLock(path)
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("pragma journal_mode = wal")
            # A published verdict must not be forgotten by a power cut.
            self._db.execute("pragma synchronous = full")
            with self._transaction():
                self._bring_up_to_date(path)
        except sqlite3.Error as error:
            self._lock.release()
            raise ConfigurationError(
                f"service.state: {path} cannot be used: {error}; "
                "name a file in a folder that can be written"
            ) from error
        except ConfigurationError:
            self._db.close()
            self._lock.release()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()
        self._lock.release()

    def note(self, deploy: Deploy, due_at: float) -> bool:
        """Take up *deploy*, to be looked at from *due_at* on; True when it is new.

        A deploy that was never looked at may still change.
        """
        with self._transaction():
            known = self._db.execute(
                "select 1 from deploys where id = ?", (deploy.id,)
            ).fetchone()
            self._db.execute(
                "insert into deploys (id, at, deploy, state, due_at, version) "
                "values (?, ?, ?, ?, ?, ?) on conflict (id) do update set "
                "at = excluded.at, deploy = excluded.deploy, due_at = excluded.due_at "
                "where state = ? and report is null and deploy <> excluded.deploy",
                (
                    deploy.id,
                    deploy.at,
                    rows.encode_deploy(deploy),
                    State.WAITING,
                    due_at,
                    rows.VERSION,
                    State.WAITING,
                ),
            )
        return known is None

    def due(self, now: float) -> list[tuple[Deploy, Report | None]]:
        """Waiting deploys whose time has come, with the report of an earlier look."""
        due = self._db.execute(
            "select deploy, report from deploys where state = ? and due_at <= ? "
            "order by at, id",
            (State.WAITING, now),
        )
        return [
            (
                rows.decode_deploy(deploy),
                None if report is None else rows.decode_report(report),
            )
            for deploy, report in due
        ]

    def between(self, start: float, end: float) -> list[Deploy]:
        """All deploys that happened between two moments, whatever became of them."""
        selected = self._db.execute(
            "select deploy from deploys where at between ? and ? order by at, id",
            (start, end),
        )
        return [rows.decode_deploy(row[0]) for row in selected]

    def postpone(self, deploy: Deploy, until: float) -> None:
        """Do not look at *deploy* again before *until*."""
        self._db.execute(
            "update deploys set due_at = ? where id = ? and state = ?",
            (until, deploy.id, State.WAITING),
        )

    def keep(self, report: Report, next_look: float) -> None:
        """Remember the report of an early look, and when to look again."""
        self._db.execute(
            "update deploys set report = ?, due_at = ? where id = ? and state = ?",
            (
                rows.encode_report(report),
                next_look,
                report.subject.id,
                State.WAITING,
            ),
        )

    def decide(self, report: Report) -> None:
        """Remember the final report on a deploy."""
        self._db.execute(
            "update deploys set state = ?, report = ? where id = ? and state = ?",
            (
                State.JUDGED,
                rows.encode_report(report),
                report.subject.id,
                State.WAITING,
            ),
        )

    def unpublished(self) -> list[Report]:
        """Final reports that are not published yet, the oldest first."""
        return self._reports("state = ?", State.JUDGED)

    def published(self, report: Report) -> None:
        """Remember that the report has been published."""
        self._db.execute(
            "update deploys set state = ? where id = ?",
            (State.PUBLISHED, report.subject.id),
        )

    def reports(self, since: float) -> list[Report]:
        """All reports, provisional ones too, on deploys after *since*, oldest first."""
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

    def _bring_up_to_date(self, path: str) -> None:
        version = self._db.execute("pragma user_version").fetchone()[0]
        if version > _FORMAT:
            raise ConfigurationError(
                f"service.state: {path} was written by another version of "
                f"pgverdict (format {version}, here {_FORMAT}); name a new file"
            )
        self._db.execute(_SCHEMA)
        columns = self._db.execute("pragma table_info(deploys)").fetchall()
        if "version" not in {name for _, name, *_ in columns}:
            self._db.execute(
                "alter table deploys add column version integer not null default 1"
            )
        self._upgrade_rows(path)
        self._db.execute(f"pragma user_version = {_FORMAT}")

    def _upgrade_rows(self, path: str) -> None:
        older = self._db.execute(
            "select id, version, deploy, report from deploys where version <> ?",
            (rows.VERSION,),
        ).fetchall()
        for key, version, deploy, report in older:
            try:
                upgraded = rows.upgrade(version, deploy, report)
            except ValueError as error:
                raise ConfigurationError(
                    f"service.state: {path}: the row {key} cannot be read: {error}; "
                    "name a new file"
                ) from error
            self._db.execute(
                "update deploys set deploy = ?, report = ?, version = ? where id = ?",
                (*upgraded, rows.VERSION, key),
            )

    def _reports(self, where: str, value: object) -> list[Report]:
        selected = self._db.execute(
            f"select report from deploys where {where} order by at, id",  # noqa: S608
            (value,),
        )
        return [rows.decode_report(row[0]) for row in selected]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")


def stored_report(path: str, deploy_id: str) -> Report | None:
    """What a ledger says of a deploy for good; the file may be in use by its evaluator.

    Args:
        path: as of :class:`Ledger`.

    Returns:
        None where there is no such file, deploy or final report, or it cannot be read.
    """
    if not Path(path).is_file():
        return None
    address = f"{Path(path).resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as db:
            row = db.execute(
                "select report from deploys where id = ? and state <> ? "
                "and version = ?",
                (deploy_id, State.WAITING, rows.VERSION),
            ).fetchone()
    except sqlite3.Error:
        return None
    return None if row is None else rows.decode_report(row[0])
