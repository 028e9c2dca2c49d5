"""One server to scrape: read by one at a time, shared by everyone who asks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import structlog

from .counters import DEFAULT_COUNTERS, SINCE
from .database import Database
from .dsn import Dsn
from .exposition import Family
from .families import connect_family, families, plan_families, text_families
from .labels import LabelBook
from .limit import COST, Limit
from .planreader import PlanReader, PlanSettings
from .problems import TIMEOUT, Reason
from .reading import Wanted, read_snapshot
from .scrape import Scrape
from .snapshot import Snapshot
from .textreader import TextReader, TextSettings
from .turns import Turns

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """What is read and shown of a server.

    Args:
        counters: fields of the statements to show.
        created: whether pages in OpenMetrics tell when each counter began.
        texts: how texts are read; None shows none.
        context: whether to show server-wide series.
        limit: most statements to show; None shows all.
        plans: how plans are read; None reads none.
    """

    counters: tuple[str, ...] = DEFAULT_COUNTERS
    created: bool = False
    texts: TextSettings | None = None
    context: bool = True
    limit: int | None = None
    plans: PlanSettings | None = None


class Target:
    """A server, by the name that the configuration gives it."""

    def __init__(self, name: str, dsn: Dsn, settings: TargetSettings) -> None:
        self.name = name
        self._settings = settings
        self._database = Database(dsn)
        self._book = LabelBook()
        self._turns = Turns(self._database.abort)
        self._limit = Limit(settings.limit) if settings.limit else None
        self._told: frozenset[Reason] = frozenset()
        mine = (name, self._database, self._turns)
        texts, plans = settings.texts, settings.plans
        self._texts = TextReader(*mine, texts) if texts else None
        self._plans = PlanReader(*mine, plans) if plans else None
        both = (self._texts, self._plans)
        self._readers = [reader for reader in both if reader is not None]

    def start(self) -> None:
        """Begin what goes on between scrapes."""
        for reader in self._readers:
            reader.start()

    def close(self) -> None:
        """End what is under way, and the connection."""
        for reader in self._readers:
            reader.close()
        if self._turns.stop():
            self._database.close()

    def scrape(self, deadline: float) -> Scrape:
        """Read before *deadline* (time.monotonic), or say that it was not possible."""
        started = time.monotonic()
        scrape = self._turns.take(self._read, deadline)
        if scrape is None:
            took = time.monotonic() - started
            scrape = self._scrape(
                Snapshot(up=False, problems=(TIMEOUT,), duration=took)
            )
        return scrape

    def _read(self, deadline: float) -> Scrape:
        fields = {*self._settings.counters, SINCE}
        if self._limit or self._plans:
            fields.add(COST)
        wanted = Wanted(fields, context=self._settings.context)
        snapshot = read_snapshot(self._database, wanted, deadline)
        if self._limit and snapshot.statements is not None:
            limited = self._limit.of(snapshot.statements)
            snapshot = replace(
                snapshot, statements=limited.statements, left_out=limited.left_out
            )
        return self._scrape(snapshot)

    def _scrape(self, snapshot: Snapshot) -> Scrape:
        self._tell(snapshot)
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
                snapshot.statements, self._book, self._plans.newest
            )
        if self._texts:
            yield from text_families(
                failures=self._texts.failures, missing=self._texts.missing
            )
        yield connect_family(self._database.connects)

    def _tell(self, snapshot: Snapshot) -> None:
        """Log each problem when it comes and when it has gone, not at every scrape."""
        reasons = frozenset(problem.reason for problem in snapshot.problems)
        before, self._told = self._told, reasons
        for problem in snapshot.problems:
            if problem.reason not in before:
                log.warning(
                    problem.message,
                    target=self.name,
                    reason=problem.reason,
                    remedy=problem.remedy,
                )
        for reason in sorted(before - reasons):
            log.info("problem gone", target=self.name, reason=reason)
