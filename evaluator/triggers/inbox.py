"""Deploys that other threads hand in, until the one thread of the ledger takes them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from ..errors import PgverdictError
from .port import Mark


class InboxRefusedError(PgverdictError):
    """The mark was not taken and nothing remembers it; it can be handed in again."""


class Inbox:
    """A queue with many producers and one consumer.

    ``put`` returns once a mark is in memory: it is in the ledger after the next round.
    A process that is killed before then loses it, so a producer that answers somebody
    answers "accepted", not "stored". A process that is stopped closes the inbox first.
    From then on ``put`` refuses, so that no producer believes that its mark was taken,
    and what had been put before is still written to the ledger.

    Args:
        limit: most marks to hold; a flood must not fill the memory.
    """

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._marks: deque[Mark] = deque()
        self._lock = threading.Lock()
        self._closed = False

    def put(self, mark: Mark) -> None:
        """Hand in *mark*; from any thread.

        Raises:
            InboxRefusedError: the evaluator is stopping, or too many marks wait.
        """
        with self._lock:
            if self._closed:
                raise InboxRefusedError(
                    "the evaluator is stopping; hand in the deploy again later"
                )
            if len(self._marks) >= self._limit:
                raise InboxRefusedError(
                    f"{self._limit} deploys wait to be taken up; try again later"
                )
            self._marks.append(mark)

    def drain(self, write: Callable[[Mark], None]) -> None:
        """Give each mark to *write*, the oldest first; from the consumer's thread.

        A mark leaves the inbox only after *write* has returned: when it raises, this
        mark and those after it stay for the next time.
        """
        while (mark := self._first()) is not None:
            write(mark)
            with self._lock:
                self._marks.popleft()

    def close(self) -> None:
        """Refuse every further mark."""
        with self._lock:
            self._closed = True

    @property
    def waiting(self) -> tuple[Mark, ...]:
        """The marks that are not taken up yet."""
        with self._lock:
            return tuple(self._marks)

    def _first(self) -> Mark | None:
        with self._lock:
            return self._marks[0] if self._marks else None
