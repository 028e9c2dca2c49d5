"""Log lines as logfmt or JSON on stderr: what happened, then key=value; UTC."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

LEVELS = ("debug", "info", "warn", "error")
FORMATS = ("logfmt", "json")
_FIELDS = "pgverdict_fields"
_PLAIN = frozenset("_-.:/+@%[]")


def fields(**values: object) -> dict[str, object]:
    """For ``log.info("listening", extra=fields(address=…))``."""
    return {_FIELDS: values}


class Formatter(logging.Formatter):
    """One line a record, never a stack trace.

    Args:
        style: one of FORMATS.
    """

    def __init__(self, style: str) -> None:
        super().__init__()
        self._shape = style

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC)
        level = record.levelname.lower().replace("warning", "warn")
        line: dict[str, object] = {
            "time": when.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": level,
            "msg": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        if self._shape == "json":
            return json.dumps(line, ensure_ascii=False, default=str)
        return " ".join(f"{key}={_logfmt(str(value))}" for key, value in line.items())


def _logfmt(value: str) -> str:
    if value and all(c.isalnum() or c in _PLAIN for c in value):
        return value
    return json.dumps(value, ensure_ascii=False)


def set_up(level: str, style: str, stream: TextIO | None = None) -> None:
    """Send our records to *stream* (stderr); of others only what is an error.

    The driver's own warnings repeat what libpq says, connection strings included.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Formatter(style))
    ours = logging.getLogger(__package__)
    ours.handlers = [handler]
    ours.propagate = False
    ours.setLevel({"warn": "WARNING"}.get(level, level.upper()))
    logging.getLogger("psycopg").disabled = True
