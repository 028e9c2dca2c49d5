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
    """Write one line per event, from *level* on, to *stream* (standard error).

    The driver's own warnings are silenced: they repeat libpq's messages, including
    connection strings.
    """
    render: Processor = structlog.processors.LogfmtRenderer(
        key_order=["time", "level", "msg"], bool_as_flag=False
    )
    if style == "json":
        render = structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            _with_prometheus_levels,
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
    """Drops a line that cannot be written: a full disk must not fail a scrape."""

    def msg(self, message: str) -> None:
        with suppress(OSError, ValueError):
            super().msg(message)

    log = debug = info = warn = warning = error = critical = exception = fatal = msg


def _with_prometheus_levels(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    if event["level"] == "warning":
        event["level"] = "warn"
    return event


def _without_trace(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Show only the type of the error: its message may repeat a secret."""
    if event.pop("exc_info", None):
        kind = sys.exc_info()[0]
        event["error"] = kind.__name__ if kind else "unknown"
    return event
