"""A task on a slow schedule, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

log = structlog.get_logger()


class PeriodicTask:
    """Runs *job* every *interval* seconds, starting after the first :meth:`wake`.

    Args:
        first: seconds from the first :meth:`wake` to the first run.
    """

    def __init__(
        self, name: str, job: Callable[[], None], *, interval: float, first: float
    ) -> None:
        self._job = job
        self._interval = interval
        self._first = first
        self._woken = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)

    def start(self) -> None:
        """Wait for :meth:`wake`."""
        self._thread.start()

    def wake(self) -> None:
        """There is something to do; has no effect after the first call."""
        self._woken.set()

    def close(self) -> None:
        """Do not run again; a run in progress continues."""
        self._closed.set()
        self._woken.set()

    @property
    def closed(self) -> bool:
        """Whether a run still in progress is being cut off on purpose."""
        return self._closed.is_set()

    def _loop(self) -> None:
        self._woken.wait()
        pause = self._first
        while not self._closed.wait(pause):
            pause = self._interval
            try:
                self._job()
            except Exception:
                log.exception("periodic task failed", task=self._thread.name)
