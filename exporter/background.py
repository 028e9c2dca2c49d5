"""Work on a slow schedule, apart from scrapes."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

log = structlog.get_logger()


class Background:
    """Runs *job* in a thread of its own every *interval* seconds, once it was woken.

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
        """Begin to wait for :meth:`wake`."""
        self._thread.start()

    def wake(self) -> None:
        """There is something to do; from the second time on without effect."""
        self._woken.set()

    def close(self) -> None:
        """Do not run again; a run under way goes on."""
        self._closed.set()
        self._woken.set()

    @property
    def closed(self) -> bool:
        """Whether what a run still does is cut off on purpose."""
        return self._closed.is_set()

    def _loop(self) -> None:
        self._woken.wait()
        pause = self._first
        while not self._closed.wait(pause):
            pause = self._interval
            try:
                self._job()
            except Exception:
                log.exception("background work failed", work=self._thread.name)
