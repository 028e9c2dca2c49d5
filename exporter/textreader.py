"""Reads query texts on a slow schedule, and only when there are new statements."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from .background import Background
from .database import Database, ReadError
from .problems import TIMEOUT, Problem, Reason
from .reading import read_texts
from .snapshot import StatementKey
from .texts import TextBook
from .turns import Turns

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TextSettings:
    """How texts are read.

    Args:
        length: characters to show.
        interval: seconds between two reads.
        timeout: seconds for one; a scrape may have to wait for it.
    """

    length: int = 200
    interval: float = 60.0
    timeout: float = 2.0


class TextReader:
    """Fills *book* with the texts of the statements of one server.

    A read that runs out of time keeps what has come until then, and the next one asks
    for the rest.

    Attributes:
        failures: reads that brought nothing.
        missing: statements whose text the newest read did not bring.
    """

    def __init__(
        self, name: str, database: Database, turns: Turns, settings: TextSettings
    ) -> None:
        self.book = TextBook()
        self.failures = 0
        self.missing = 0
        self._name = name
        self._database = database
        self._turns = turns
        self._settings = settings
        self._seen: Sequence[StatementKey] = ()
        self._background = Background(
            f"texts of {name}",
            self.read,
            interval=settings.interval,
            first=0.0,
        )

    def start(self) -> None:
        """Begin to read now and then."""
        self._background.start()

    def close(self) -> None:
        """Read no more."""
        self._background.close()

    def saw(self, keys: Sequence[StatementKey]) -> None:
        """Tell which statements there are."""
        self._seen = keys
        if keys:
            self._background.wake()

    def read(self) -> None:
        """Read the texts that are missing; a failure is counted and told."""
        seen = self._seen
        asked = self.book.missing(seen)
        self.missing = len(asked)
        if not asked:
            return
        found: dict[StatementKey, str] = {}
        problem = self._read(asked, found)
        # A read that was cut off may still be at its last row.
        found = found.copy()
        self.book.learn(found, seen=seen)
        self.missing -= len(found)
        if problem is None or self._background.closed:
            return
        if not found:
            self._failed(problem)
        else:
            log.info(
                "some query texts will be read later",
                target=self._name,
                reason=problem.reason,
                read=len(found),
                missing=self.missing,
                # More time comes by itself.
                remedy="" if problem is TIMEOUT else problem.remedy,
            )

    def _read(
        self, asked: Sequence[StatementKey], found: dict[StatementKey, str]
    ) -> Problem | None:
        """Put texts into *found*; what came before all of them."""
        deadline = time.monotonic() + self._settings.timeout
        length = self._settings.length
        try:
            complete = self._turns.take(
                lambda until: read_texts(self._database, asked, length, until, found),
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
                f"not one text came within {self._settings.timeout:g} s; PostgreSQL "
                "reads all of its text file before the first: raise --texts.timeout, "
                "but keep it below the time that a scrape has"
            )
        log.warning(
            "query texts could not be read",
            target=self._name,
            reason=problem.reason,
            remedy=remedy,
        )
