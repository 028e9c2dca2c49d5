"""One piece of work at a time on one connection; who wants the same shares its result.

The thread that waits is the watchdog of the thread that works: when the time is over it
calls *abort*, which frees work that hangs in a system call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")
Work = Callable[[float], Result]


class _Run(Generic[Result]):
    """Work under way in a thread of its own."""

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
        except Exception as error:  # told to whoever waits
            self.error = error
        finally:
            self.done.set()


class Turns:
    """Takes turns on something that only one thread may use.

    Args:
        abort: ends the work that is under way; called from a waiting thread.

    Attributes:
        waiting: how many threads wait for work that is under way.
    """

    def __init__(self, abort: Callable[[], None]) -> None:
        self._abort = abort
        self._lock = threading.Lock()
        self._run: _Run[object] | None = None
        self._stopped = False
        self.waiting = 0

    def take(self, work: Work[Result], deadline: float) -> Result | None:
        """Do *work*, or share the result of the same work that is under way.

        Args:
            work: gets the deadline; must return soon after *abort*.
            deadline: by time.monotonic.

        Returns:
            What the work returned; None when the deadline or :meth:`stop` came first.

        Raises:
            Exception: whatever the work raised.
        """
        while not self._stopped:
            run = self._current(work, deadline)
            until = deadline if run.aborted else min(deadline, run.deadline)
            self._count(1)
            finished = run.done.wait(max(0.0, until - time.monotonic()))
            self._count(-1)
            if finished and run.work == work and not run.aborted:
                return self._outcome(run)
            now = time.monotonic()
            if not finished and now >= run.deadline:
                self._stop(run)
            if now >= deadline:
                break
        return None

    def stop(self, patience: float = 1.0) -> bool:
        """Abort whatever is under way and begin nothing more.

        Returns:
            Whether it ended within *patience* seconds.
        """
        self._stopped = True
        run = self._run
        if run is None:
            return True
        self._stop(run)
        return run.done.wait(patience)

    def _current(self, work: Work[Result], deadline: float) -> _Run[Result]:
        with self._lock:
            run = self._run
            if run is None or run.done.is_set():
                run = self._run = _Run(work, deadline)
                threading.Thread(target=self._fly, args=(run,), daemon=True).start()
            return run  # type: ignore[return-value] # take() compares the work

    def _count(self, change: int) -> None:
        with self._lock:
            self.waiting += change

    def _fly(self, run: _Run[object]) -> None:
        run()
        with self._lock:
            # A result of megabytes lives only as long as someone waits for it.
            if self._run is run:
                self._run = None

    def _stop(self, run: _Run[Result]) -> None:
        with self._lock:
            if self._run is run and not run.done.is_set() and not run.aborted:
                run.aborted = True
                self._abort()

    @staticmethod
    def _outcome(run: _Run[Result]) -> Result | None:
        if run.error is not None:
            raise run.error
        return run.result
