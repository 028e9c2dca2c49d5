"""Saved answers of Prometheus: ``curl`` of its API is a capture."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from ..answers import Answer
from ..errors import ConfigurationError, SourceError
from ..units import show_time
from .matrix import RawSeries, decode_matrix
from .profiles import PROFILES, Profile
from .readings import Reading, join, pair


def read_capture(
    path: str, profile: Profile, start: float = -math.inf, end: float = math.inf
) -> Reading:
    """The counters in the file *path*, ``-`` for standard input.

    Args:
        start, end: samples with start ≤ time ≤ end are used, Unix seconds.

    Raises:
        ConfigurationError: the file cannot be read.
        SourceError: no matrix of Prometheus, or nothing in it that can be used.
    """
    where = "standard input" if path == "-" else path
    series, warnings = decode_matrix(Answer(_content(path), where))
    _check_names(series, profile, where)
    reading = join([pair(series, profile, start, end, where)], warnings)
    if not reading.series:
        counters = [
            one for one in series if one.name in (profile.calls, profile.seconds)
        ]
        times = [float(time) for one in counters for time in one.times]
        if not times:
            raise SourceError(f"{where}: its series hold no samples")
        raise SourceError(
            f"{where}: has samples from {show_time(min(times))} to "
            f"{show_time(max(times))}, but none from {show_time(start)} to "
            f"{show_time(end)}; is the deploy time right?"
        )
    return reading


def _content(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read ({error.strerror}); expected a saved answer of "
            "Prometheus' /api/v1/query"
        ) from error


def _check_names(series: list[RawSeries], profile: Profile, where: str) -> None:
    if not series:
        raise SourceError(f"{where}: the matrix is empty; is its query right?")
    found = sorted({one.name for one in series})
    missing = [name for name in (profile.calls, profile.seconds) if name not in found]
    if missing:
        shown = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
        raise SourceError(
            f"{where}: holds {shown}, but no {' and no '.join(missing)}; capture "
            f'{{__name__=~"{"|".join(profile.metrics)}"}}[…], or choose the profile '
            f"({', '.join(PROFILES)}) with these names"
        )
