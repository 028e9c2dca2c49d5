"""One server to scrape: one read at a time, shared by all clients that ask."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import structlog

from .metrics.counters import SINCE
from .metrics.exposition import Family
from .metrics.families import connection_family, families, plan_families, text_families
from .metrics.label_books import LabelBook
from .metrics.sticky_limit import COST, StickyLimit
from .periodic.plan_reader import PlanReader, PlanSettings
from .periodic.single_flight import SingleFlight
from .periodic.text_reader import TextReader, TextSettings
from .postgres.connecting.connection import ServerConnection
from .postgres.connecting.dsn import Dsn
from .postgres.reading import SnapshotReader, Wanted
from .scrape import Scrape
from .values.problems import TIMEOUT, Reason
from .values.snapshot import Snapshot

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """What is read and shown of a server.

    Args:
        counters: fields of the statements to show.
        created: whether pages in OpenMetrics show when each counter started.
        texts: how texts are read; None shows none.
        context: whether to show server-wide series.
        limit: most statements to show; None shows all.
        plans: how plans are read; None reads none.
    """

    counters: tuple[str, ...]
    created: bool
    texts: TextSettings | None
    context: bool
    limit: int | None
    plans: PlanSettings | None


class Target:
    """A server, under the name that the configuration gives it."""

    def __init__(self, name: str, dsn: Dsn, settings: TargetSettings) -> None:
        self.name = name
        self._settings = settings
        self._connection = ServerConnection(dsn)
        self._reader = SnapshotReader(self._connection, _wanted(settings))
        self._book = LabelBook()
        self._flights = SingleFlight(self._connection.abort)
        self._limit = StickyLimit(settings.limit) if settings.limit else None
        self._logged: frozenset[Reason] = frozenset()
        shared = (name, self._connection, self._flights)
        texts, plans = settings.texts, settings.plans
        self._texts = TextReader(*shared, texts) if texts else None
        self._plans = PlanReader(*shared, plans) if plans else None
        both = (self._texts, self._plans)
        self._readers = [reader for reader in both if reader is not None]

    def start(self) -> None:
        """Start what happens between scrapes."""
        for reader in self._readers:
            reader.start()

    def close(self) -> None:
        """End the work in progress, and the connection."""
        for reader in self._readers:
            reader.close()
        if self._flights.stop():
            self._connection.close()

    def scrape(self, deadline: float) -> Scrape:
        """Read before *deadline* (time.monotonic), or report that it timed out."""
        started = time.monotonic()
        scrape = self._flights.do(self._read, deadline)
        if scrape is None:
            took = time.monotonic() - started
            scrape = self._scrape(
                Snapshot(up=False, problems=(TIMEOUT,), duration=took)
            )
        return scrape

    def _read(self, deadline: float) -> Scrape:
        snapshot = self._reader.read(deadline)
        if self._limit and snapshot.statements is not None:
            limited = self._limit.apply(snapshot.statements)
            snapshot = replace(
                snapshot, statements=limited.statements, left_out=limited.left_out
            )
        return self._scrape(snapshot)

    def _scrape(self, snapshot: Snapshot) -> Scrape:
        self._log_changes(snapshot)
        if self._texts and snapshot.statements is not None:
            self._texts.saw(snapshot.statements.keys)
        if self._plans:
            self._plans.saw(snapshot)
        return Scrape(snapshot, lambda: self._families(snapshot))

    def _families(self, snapshot: Snapshot) -> Iterator[Family]:
        yield from families(
            snapshot,
            self._book,
            counters=self._settings.counters,
            texts=self._texts.book.known if self._texts else None,
            created=self._settings.created,
        )
        if self._plans:
            yield from plan_families(
                snapshot.statements, self._book, self._plans.latest
            )
        if self._texts:
            yield from text_families(
                failures=self._texts.failures, missing=self._texts.missing
            )
        yield connection_family(self._connection.attempts)

    def _log_changes(self, snapshot: Snapshot) -> None:
        """Log each problem when it appears and when it ends, not at every scrape."""
        reasons = frozenset(problem.reason for problem in snapshot.problems)
        before, self._logged = self._logged, reasons
        for problem in snapshot.problems:
            if problem.reason not in before:
                log.warning(
                    problem.message,
                    target=self.name,
                    reason=problem.reason,
                    remedy=problem.remedy,
                )
        for reason in sorted(before - reasons):
            log.info("problem solved", target=self.name, reason=reason)


def _wanted(settings: TargetSettings) -> Wanted:
    fields = {*settings.counters, SINCE}
    if settings.limit or settings.plans:
        fields.add(COST)
    return Wanted(fields, context=settings.context)
