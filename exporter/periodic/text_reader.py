"""Reads query texts on a slow schedule, and only when there are new statements."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from ..metrics.label_books import TextBook
from ..metrics.labels import inside
from ..postgres.connecting.connection import ReadError, ServerConnection
from ..postgres.text_reading import read_texts
from ..values.problems import TIMEOUT, Problem, Reason
from ..values.snapshot import LabelPairs, StatementKey
from .single_flight import SingleFlight
from .task import PeriodicTask

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TextSettings:
    """How texts are read.

    Args:
        length: characters to show.
        interval: seconds between two reads.
        timeout: seconds for one read; a scrape may have to wait for it.
    """

    length: int
    interval: float
    timeout: float


class TextReader:
    """Fills *book* with the texts of the statements of one server.

    A read that runs out of time keeps what it has read so far, and the next one
    continues with the rest.

    Attributes:
        failures: reads that returned nothing.
        missing: statements whose text the latest read did not return.
    """

    def __init__(
        self,
        name: str,
        connection: ServerConnection,
        flights: SingleFlight,
        settings: TextSettings,
    ) -> None:
        self.book = TextBook()
        self.failures = 0
        self.missing = 0
        self._name = name
        self._connection = connection
        self._flights = flights
        self._settings = settings
        self._seen: Sequence[StatementKey] = ()
        self._task = PeriodicTask(
            f"texts of {name}",
            self.read,
            interval=settings.interval,
            first=0.0,
        )

    def start(self) -> None:
        """Start to read from time to time."""
        self._task.start()

    def close(self) -> None:
        """Do not read any more."""
        self._task.close()

    def saw(self, keys: Sequence[StatementKey]) -> None:
        """Take note of the statements of the latest scrape."""
        self._seen = keys
        if keys:
            self._task.wake()

    def read(self) -> None:
        """Read the texts that are missing; a failure is counted and logged."""
        seen = self._seen
        wanted = self.book.missing(seen)
        self.missing = len(wanted)
        if not wanted:
            return
        texts: dict[StatementKey, str] = {}
        problem = self._read(wanted, texts)
        # A read that was cut off may still be processing its last row.
        texts = texts.copy()
        self.book.learn(texts, seen=seen)
        self.missing -= len(texts)
        if problem is None or self._task.closed:
            return
        if not texts:
            self._failed(problem)
        else:
            log.info(
                "some query texts will be read later",
                target=self._name,
                reason=problem.reason,
                read=len(texts),
                missing=self.missing,
                # After a timeout the next read continues by itself.
                remedy="" if problem is TIMEOUT else problem.remedy,
            )

    def _read(
        self, wanted: Sequence[StatementKey], texts: dict[StatementKey, str]
    ) -> Problem | None:
        """Add labels to *texts*; the problem that came before the end, if any."""

        def keep(key: StatementKey, pairs: LabelPairs) -> None:
            texts[key] = inside(*pairs)

        deadline = time.monotonic() + self._settings.timeout
        length = self._settings.length
        try:
            complete = self._flights.do(
                lambda until: read_texts(self._connection, wanted, length, until, keep),
                deadline,
            )
        except ReadError as error:
            return error.problem
        return None if complete else TIMEOUT

    def _failed(self, problem: Problem) -> None:
        self.failures += 1
        remedy = problem.remedy
        if problem.reason is Reason.TIMEOUT:
            remedy = (
                f"no text arrived within {self._settings.timeout:g} s; PostgreSQL "
                "reads its entire text file before it sends the first: raise "
                "--texts.timeout, but keep it below the time of a scrape"
            )
        log.warning(
            "query texts could not be read",
            target=self._name,
            reason=problem.reason,
            remedy=remedy,
        )
