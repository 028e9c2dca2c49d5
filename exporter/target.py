"""One server to scrape: read, shared by everyone who asks, and rendered once."""

from __future__ import annotations

import logging
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator

from .database import Database
from .exposition import END, render
from .families import families
from .labels import LabelBook
from .logs import fields
from .problems import TIMEOUT, Reason
from .snapshot import Snapshot
from .turns import Turns

log = logging.getLogger(__name__)

GZIP = 16 + zlib.MAX_WBITS
# Level 1: a third of the time of level 6 for 15 % more bytes.
GZIP_LEVEL = 1

Tail = Callable[[bool], bytes]


class Scrape:
    """One snapshot and its pages, rendered when first asked for."""

    def __init__(self, snapshot: Snapshot, pieces: Callable[[bool], Iterator[bytes]]):
        self.snapshot = snapshot
        self._pieces = pieces
        self._lock = threading.Lock()
        self._pages: dict[tuple[bool, bool], bytes] = {}

    def page(self, *, openmetrics: bool, gzip: bool, tail: Tail | None = None) -> bytes:
        """The body of the answer.

        Args:
            tail: makes further lines, for the page in OpenMetrics or not.
        """
        with self._lock:
            page = self._pages.get((openmetrics, gzip))
            if page is None:
                page = self._render(openmetrics, tail, gzip=gzip)
                self._pages[openmetrics, gzip] = page
            return page

    def _render(self, openmetrics: bool, tail: Tail | None, *, gzip: bool) -> bytes:  # noqa: FBT001
        pieces = self._pieces(openmetrics)
        end = [tail(openmetrics)] if tail else []
        end += [END] if openmetrics else []
        if not gzip:
            return b"".join([*pieces, *end])
        packer = zlib.compressobj(GZIP_LEVEL, wbits=GZIP)
        packed = [packer.compress(piece) for piece in pieces]
        packed += [packer.compress(piece) for piece in end]
        return b"".join([*packed, packer.flush()])


class Target:
    """A server by the name that the configuration gives it.

    Args:
        counters: fields of the statements to show.
        created: whether pages in OpenMetrics tell when each counter began.
    """

    def __init__(
        self,
        name: str,
        database: Database,
        *,
        counters: Collection[str],
        created: bool = False,
    ) -> None:
        self.name = name
        self._database = database
        self._counters = frozenset(counters)
        self._created = created
        self._book = LabelBook()
        self._turns = Turns(database.abort)
        self._told: frozenset[Reason] = frozenset()

    def scrape(self, deadline: float) -> Scrape:
        """Read before *deadline* (time.monotonic), or say that it was not possible."""
        started = time.monotonic()
        scrape = self._turns.take(self._read, deadline)
        if scrape is None:
            took = time.monotonic() - started
            scrape = self._wrapped(
                Snapshot(up=False, problems=(TIMEOUT,), duration=took)
            )
        return scrape

    def close(self) -> None:
        """End what is under way; the connection goes with the process."""
        self._turns.stop()

    def _read(self, deadline: float) -> Scrape:
        return self._wrapped(self._database.read(deadline))

    def _wrapped(self, snapshot: Snapshot) -> Scrape:
        self._tell(snapshot)
        return Scrape(snapshot, lambda openmetrics: self._pages(snapshot, openmetrics))

    def _pages(self, snapshot: Snapshot, openmetrics: bool) -> Iterator[bytes]:  # noqa: FBT001
        shown = families(
            snapshot, self._book, counters=self._counters, created=self._created
        )
        return render(shown, openmetrics=openmetrics)

    def _tell(self, snapshot: Snapshot) -> None:
        """Log each problem when it comes and when it has gone, not at every scrape."""
        reasons = frozenset(problem.reason for problem in snapshot.problems)
        before, self._told = self._told, reasons
        for problem in snapshot.problems:
            if problem.reason not in before:
                log.warning(
                    problem.message,
                    extra=fields(
                        target=self.name, reason=problem.reason, remedy=problem.remedy
                    ),
                )
        for reason in sorted(before - reasons):
            log.info("problem gone", extra=fields(target=self.name, reason=reason))
