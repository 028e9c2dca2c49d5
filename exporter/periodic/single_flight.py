"""One piece of work at a time on one connection, shared by all who ask for it at once.

The thread that waits is the watchdog of the thread that works: at the deadline it calls
*abort*, which frees work that hangs in a system call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")
Work = Callable[[float], Result]


class _Flight(Generic[Result]):
    """Work in progress in a thread of its own."""

    def __init__(self, work: Work[Result], deadline: float) -> None:
        self.work = work
        self.deadline = deadline
        self.done = threading.Event()
        self.aborted = False
        self.result: Result | None = None
        self.error: Exception | None = None

    def __call__(self) -> None:
        try:
            self.result = self.work(self.deadline)
        except Exception as error:  # raised again for each thread that waits
            self.error = error
        finally:
            self.done.set()


class SingleFlight:
    """Does one piece of work at a time; callers who want the same share its result.

    Args:
        abort: ends the work in progress; called from a waiting thread.

    Attributes:
        waiting: how many threads wait for work in progress.
    """

    def __init__(self, abort: Callable[[], None]) -> None:
        self._abort = abort
        self._lock = threading.Lock()
        self._flight: _Flight[object] | None = None
        self._stopped = False
        self.waiting = 0

    def do(self, work: Work[Result], deadline: float) -> Result | None:
        """Do *work*, or share the result of the same work already in progress.

        Args:
            work: receives the deadline; must return soon after *abort*.
            deadline: by time.monotonic.

        Returns:
            What the work returned; None when the deadline or :meth:`stop` came first.

        Raises:
            Exception: whatever the work raised.
        """
        while not self._stopped:
            flight = self._current(work, deadline)
            until = deadline if flight.aborted else min(deadline, flight.deadline)
            self._count(1)
            finished = flight.done.wait(max(0.0, until - time.monotonic()))
            self._count(-1)
            if finished and flight.work == work and not flight.aborted:
                return self._outcome(flight)
            now = time.monotonic()
            if not finished and now >= flight.deadline:
                self._end(flight)
            if now >= deadline:
                break
        return None

    def stop(self, seconds: float = 1.0) -> bool:
        """Abort the work in progress and start nothing more.

        Returns:
            Whether it ended within *seconds*.
        """
        self._stopped = True
        flight = self._flight
        if flight is None:
            return True
        self._end(flight)
        return flight.done.wait(seconds)

    def _current(self, work: Work[Result], deadline: float) -> _Flight[Result]:
        with self._lock:
            flight = self._flight
            if flight is None or flight.done.is_set():
                flight = self._flight = _Flight(work, deadline)
                threading.Thread(target=self._fly, args=(flight,), daemon=True).start()
            return flight  # type: ignore[return-value] # do() compares the work

    def _count(self, change: int) -> None:
        with self._lock:
            self.waiting += change

    def _fly(self, flight: _Flight[object]) -> None:
        flight()
        with self._lock:
            # A result of megabytes lives only as long as someone waits for it.
            if self._flight is flight:
                self._flight = None

    def _end(self, flight: _Flight[Result]) -> None:
        with self._lock:
            ended = flight.done.is_set() or flight.aborted
            if self._flight is flight and not ended:
                flight.aborted = True
                self._abort()

    @staticmethod
    def _outcome(flight: _Flight[Result]) -> Result | None:
        if flight.error is not None:
            raise flight.error
        return flight.result
