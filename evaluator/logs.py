"""Machine-readable log lines: logfmt or JSON, UTC, on standard error."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

LEVELS = ("debug", "info", "warn", "error")
FORMATS = ("logfmt", "json")


def set_up(level: str, style: str) -> None:
    """Log to standard error, from *level* on, in one of ``FORMATS``."""
    render: Processor = structlog.processors.LogfmtRenderer(
        key_order=["time", "level", "msg"], bool_as_flag=False
    )
    if style == "json":
        render = structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            _as_prometheus_names_it,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.processors.EventRenamer("msg"),
            structlog.processors.format_exc_info,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


def _as_prometheus_names_it(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """The exporter and Prometheus call a warning ``warn``."""
    if event["level"] == "warning":
        event["level"] = "warn"
    return event
