"""Durations and moments as people write them ↔ seconds and Unix time."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])")

# 1e11 s is the year 5138; a larger number is a time in milliseconds.
_LATEST = 1e11


def parse_duration(text: str) -> float:
    """Read ``30m``, ``1h30m`` or ``90s`` as seconds.

    Raises:
        ValueError: *text* is not such a duration, has no unit, or is not above 0.
    """
    stripped = text.strip()
    if _DURATION.fullmatch(stripped):
        parts = _PART.findall(stripped)
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
        if 0 < seconds < _LATEST:
            return seconds
    bare = _number(stripped)
    hint = f"; did you mean {stripped}s?" if 0 < bare < _LATEST else ""
    if not math.isnan(bare):
        raise ValueError(
            f"expected a duration with a unit such as 30m or 90s, got {text!r}{hint}"
        )
    raise ValueError(f"expected a duration such as 30m or 90s, got {text!r}")


def write_duration(seconds: float) -> str:
    """Write seconds as a person writes them in a setting: ``30m``, ``1h30m``, ``4h``.

    ``parse_duration`` reads it back, to the millisecond.
    """
    rest = round(seconds * 1000)
    parts = []
    for unit in ("d", "h", "m", "s", "ms"):
        number, rest = divmod(rest, round(_SECONDS[unit] * 1000))
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0s"


def parse_share(text: str) -> float:
    """Read a fraction between 0 and 1.

    Raises:
        ValueError: *text* is not such a number.
    """
    share = _number(text)
    if not 0 < share < 1:
        hint = f"; did you mean {share / 100:g}?" if 1 <= share < 100 else ""
        raise ValueError(f"expected a share such as 0.1 for 10 %, got {text!r}{hint}")
    return share


def parse_time(text: str) -> float:
    """Read ISO 8601 (UTC where no zone is given) or Unix seconds, as Unix seconds.

    Raises:
        ValueError: *text* is neither, or Unix time in milliseconds.
    """
    seconds = _number(text)
    if math.isnan(seconds):
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
        # Beyond the calendar, for example milliseconds mistaken for seconds.
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
    """The number, or NaN where *text* is not one."""
    try:
        return float(text)
    except ValueError:
        return math.nan
