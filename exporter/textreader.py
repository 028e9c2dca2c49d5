"""Reads query texts on a slow schedule, and only when there are new statements."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from .background import Background
from .database import Database, ReadError
from .logs import fields
from .reading import read_texts
from .snapshot import StatementKey
from .texts import TextBook
from .turns import Turns

log = logging.getLogger(__name__)


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
    """Fills *book* with the texts of the statements of one server."""

    def __init__(
        self, name: str, database: Database, turns: Turns, settings: TextSettings
    ) -> None:
        self.book = TextBook()
        self.failures = 0
        self._name = name
        self._database = database
        self._turns = turns
        self._settings = settings
        self._seen: Sequence[StatementKey] = ()
        self._background = Background(
            f"texts of {name}",
            self.read,
            interval=settings.interval,
            first=min(1.0, settings.interval),
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

    def read(self) -> None:
        """Read the texts that are missing; a failure is counted and told."""
        seen = self._seen
        missing = self.book.missing(seen)
        if not missing:
            return
        length = self._settings.length
        deadline = time.monotonic() + self._settings.timeout
        try:
            found = self._turns.take(
                lambda limit: read_texts(self._database, missing, length, limit),
                deadline,
            )
        except ReadError as error:
            self._failed(error.problem.reason)
            return
        if found is None:
            self._failed("timeout")
            return
        self.book.learn(found, asked=missing, seen=seen)

    def _failed(self, reason: str) -> None:
        self.failures += 1
        log.warning(
            "query texts could not be read",
            extra=fields(
                target=self._name,
                reason=reason,
                remedy="if texts are large, raise --texts.timeout",
            ),
        )
