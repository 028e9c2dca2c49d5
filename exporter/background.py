"""Work on a slow schedule, apart from scrapes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from .logs import fields

log = logging.getLogger(__name__)


class Background:
    """Runs *job* every *interval* seconds in a thread of its own, until closed.

    Args:
        first: seconds until the first run.
    """

    def __init__(
        self, name: str, job: Callable[[], None], *, interval: float, first: float
    ) -> None:
        self._job = job
        self._interval = interval
        self._first = first
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Do not run again; a run under way goes on."""
        self._closed.set()

    def _loop(self) -> None:
        pause = self._first
        while not self._closed.wait(pause):
            pause = self._interval
            try:
                self._job()
            except Exception as error:
                kind = type(error).__name__
                log.error(  # noqa: TRY400 - no stack trace
                    "background work failed",
                    extra=fields(work=self._thread.name, error=kind),
                )
