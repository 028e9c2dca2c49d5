"""Log lines a machine can read: logfmt or JSON, UTC, on standard error."""

from __future__ import annotations

import logging
import sys

import structlog

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("logfmt", "json")


def set_up(level: str, style: str) -> None:
    """Write every record from *level* on to standard error in one of ``FORMATS``."""
    render: structlog.typing.Processor = structlog.processors.LogfmtRenderer(
        key_order=["ts", "level", "msg"], bool_as_flag=False
    )
    if style == "json":
        render = structlog.processors.JSONRenderer(ensure_ascii=False)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
            structlog.processors.EventRenamer("msg"),
            structlog.processors.format_exc_info,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
