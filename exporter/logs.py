"""Log lines as logfmt or JSON on standard error: what happened, then key=value; UTC."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

LEVELS = ("debug", "info", "warn", "error")
FORMATS = ("logfmt", "json")


def set_up(level: str, style: str, stream: TextIO | None = None) -> None:
    """Write our lines from *level* on to *stream* (standard error), one a record.

    The driver's own warnings repeat what libpq says, connection strings included: they
    are silenced.
    """
    render: Processor = structlog.processors.LogfmtRenderer(
        key_order=["time", "level", "msg"], bool_as_flag=False
    )
    if style == "json":
        render = structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            _as_prometheus_says,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.processors.EventRenamer("msg"),
            _without_trace,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=lambda *_: _Lines(stream or sys.stderr),
    )
    logging.getLogger("psycopg").disabled = True


class _Lines(structlog.PrintLogger):
    """Loses a line that cannot be written: a full disk must not cost a scrape."""

    def msg(self, message: str) -> None:
        with suppress(OSError, ValueError):
            super().msg(message)

    log = debug = info = warn = warning = error = critical = exception = fatal = msg


def _as_prometheus_says(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    if event["level"] == "warning":
        event["level"] = "warn"
    return event


def _without_trace(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Name the kind of the error alone: its words may repeat a secret."""
    if event.pop("exc_info", None):
        kind = sys.exc_info()[0]
        event["error"] = kind.__name__ if kind else "unknown"
    return event
