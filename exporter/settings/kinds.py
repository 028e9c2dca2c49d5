"""Kinds of settings: how each is read from YAML or a flag, and how it is written. Pure.

Readers raise a ValueError whose message says what would be right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from ..metrics.counters import COUNTER_FIELDS
from .nearest import nearest

DEFAULT_PORT = 9719

_PATH = re.compile(r"/[\w.~-][\w.~/-]*", re.ASCII)
# PostgreSQL's time-outs end at 24 days.
_LONGEST_HOURS = 168
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Kind:
    """How the values of a setting look.

    Args:
        read: value from the file or text of the flag → value.
        placeholder: what stands for the value in help texts.
        write: value → text that *read* reads as the same value.
    """

    read: Callable[[Any], Any]
    placeholder: str
    write: Callable[[Any], str] = str


def _read_text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("expected text")
    return value


def _read_file(value: Any) -> Path:
    return Path(_read_text(value))


def _read_url_path(value: Any) -> str:
    if not isinstance(value, str) or not _PATH.fullmatch(value):
        raise ValueError("expected a path such as /metrics")
    if value == "/probe" or value.startswith("/-/"):
        raise ValueError("expected a path other than /probe and those below /-/")
    return value


def _read_address(value: Any) -> tuple[str, int]:
    """``host:port``, ``:port`` for all interfaces, ``[::1]:port``."""
    host, colon, port = str(value).rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"expected an address such as :{DEFAULT_PORT}")
    if host.startswith("[") and host.endswith("]"):
        return host[1:-1], int(port)
    if ":" in host:
        raise ValueError(f"expected brackets, such as [::1]:{DEFAULT_PORT}")
    return host, int(port)


def _write_address(address: tuple[str, int]) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _read_duration(value: Any) -> float:
    """Seconds, from a number with a unit (ms, s, m, h); above zero."""
    expected = "expected a duration such as 10s or 500ms"
    text = str(value).strip()
    unit = next((unit for unit in _SECONDS if text.endswith(unit)), "")
    try:
        number = float(text.removesuffix(unit))
    except ValueError:
        raise ValueError(expected) from None
    if not unit:
        missing = "the unit is missing; " if isfinite(number) else ""
        raise ValueError(f"{missing}{expected}")
    seconds = number * _SECONDS[unit]
    if not seconds > 0:
        raise ValueError(expected)
    if seconds > _LONGEST_HOURS * 3600:
        raise ValueError(f"expected a duration of at most {_LONGEST_HOURS}h")
    return seconds


def _write_duration(seconds: float) -> str:
    """With the largest unit that makes a whole number, otherwise in milliseconds."""
    whole = (u for u in reversed(_SECONDS) if (seconds / _SECONDS[u]).is_integer())
    unit = next(whole, "ms")
    return f"{seconds / _SECONDS[unit]:g}{unit}"


def _read_switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise ValueError("expected true or false")


def _write_switch(value: bool) -> str:  # noqa: FBT001 - the value of a setting
    return "true" if value else "false"


def _read_counters(value: Any) -> tuple[str, ...]:
    """A list, or names separated by commas; returned in the order of the metrics."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not names:
        raise ValueError("expected a list such as calls,seconds,rows")
    for name in names:
        if name not in COUNTER_FIELDS:
            raise ValueError(f"unknown counter{nearest(str(name), COUNTER_FIELDS)}")
    return tuple(name for name in COUNTER_FIELDS if name in names)


ADDRESS = Kind(_read_address, "HOST:PORT", _write_address)
URL_PATH = Kind(_read_url_path, "PATH")
FILE = Kind(_read_file, "PATH")
DURATION = Kind(_read_duration, "DURATION", _write_duration)
SWITCH = Kind(_read_switch, "true|false", _write_switch)
COUNTERS = Kind(_read_counters, "NAME,…", ",".join)


def whole_number(least: int) -> Kind:
    """A whole number that is at least *least*."""

    def read(value: Any) -> int:
        text = str(value)
        if isinstance(value, bool) or not text.isdecimal() or int(text) < least:
            raise ValueError(f"expected a whole number, at least {least}")
        return int(text)

    return Kind(read, "NUMBER")


def choice(*names: str) -> Kind:
    """One of a few names."""

    def read(value: Any) -> str:
        if value not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return str(value)

    return Kind(read, "|".join(names))
