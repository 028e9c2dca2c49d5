"""Durations and moments as people write them → seconds and Unix time."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])")

# 1e11 s is the year 5138; a larger number is a time in milliseconds.
_LATEST = 1e11


def parse_duration(text: str) -> float:
    """Read ``30m``, ``1h30m``, ``90s`` or plain seconds such as ``90``, as seconds.

    Raises:
        ValueError: *text* is none of these, or not above 0.
    """
    stripped = text.strip()
    if _DURATION.fullmatch(stripped):
        parts = _PART.findall(stripped)
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    else:
        seconds = _number(stripped)
    if not 0 < seconds < _LATEST:
        raise ValueError(f"expected a duration such as 30m or 90s, got {text!r}")
    return seconds


def parse_time(text: str) -> float:
    """Read ISO 8601 (UTC where no zone is given) or Unix seconds, as Unix seconds.

    Raises:
        ValueError: *text* is neither, or Unix time in milliseconds.
    """
    seconds = _number(text)
    if seconds != seconds:
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            raise ValueError(
                "expected a time such as 2026-11-29T14:05:00Z or Unix seconds, "
                f"got {text!r}"
            ) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if seconds > _LATEST:
        raise ValueError(
            f"expected Unix seconds, got {text}, which looks like milliseconds; "
            f"did you mean {seconds / 1000:.0f}?"
        )
    if seconds < 0:
        raise ValueError(f"expected a time after 1970, got {text}")
    return seconds


def show_time(at: float) -> str:
    """Write Unix seconds as ISO 8601 in UTC, to the second."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        # Beyond the calendar, as milliseconds taken for seconds are.
        return f"{at:.0f}"


def show_duration(seconds: float) -> str:
    """Write seconds with the unit that reads best, such as ``2.5 ms`` or ``30 min``."""
    for limit, unit, factor in (
        (1e-3, "µs", 1e6),
        (1.0, "ms", 1e3),
        (120.0, "s", 1.0),
        (7200.0, "min", 1 / 60),
        (172_800.0, "h", 1 / 3600),
    ):
        if abs(seconds) < limit:
            return f"{seconds * factor:.3g} {unit}"
    days = seconds / 86400
    return f"{days:.0f} d" if abs(days) >= 1000 else f"{days:.3g} d"


def _number(text: str) -> float:
    """The number, or NaN where *text* is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
