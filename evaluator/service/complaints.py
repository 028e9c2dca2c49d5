"""What becomes of errors in a step: each is counted, only news is logged."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from ..errors import PgverdictError
from ..sinks.gauges import Gauges

log = structlog.get_logger()


class Complaints:
    """Remembers what was logged last, so that a Grafana that is down is one line."""

    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges
        self._logged: dict[str, str] = {}

    def attempt(self, step: str, about: str, action: Callable[[], object]) -> bool:
        """Run *action*; True when it raised no error, and none escapes.

        Args:
            about: what the action works on; the same error about it is logged once.
        """
        try:
            action()
        except PgverdictError as error:
            self.add(step, about, error)
            return False
        except Exception:
            # A defect of ours must not end the watch over the other deploys.
            log.exception("step failed", step=step, about=about)
            self._gauges.failed(step)
            return False
        self.settle(about)
        return True

    def add(self, step: str, about: str, error: PgverdictError) -> None:
        """Count the error, and log it unless it is the last that was logged."""
        self._gauges.failed(step)
        if self._logged.get(about) != str(error):
            self._logged[about] = str(error)
            log.error("step failed", step=step, about=about, error=str(error))

    def settle(self, about: str) -> None:
        """All is well with *about* again: its next error is news."""
        self._logged.pop(about, None)
