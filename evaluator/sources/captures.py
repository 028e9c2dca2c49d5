"""Saved answers of Prometheus: ``curl`` of its API is a capture."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from ..errors import ConfigurationError, SourceError
from ..model import Surroundings
from ..transport.answers import Answer
from ..units import show_time
from .matrix import RawSeries, decode_matrix
from .profiles import PROFILES, Profile
from .readings import Reading, join, pair
from .series.batches import Period
from .series.identities import identities_of
from .sightings import fingerprints_of, plans_of, starts_of, texts_of
from .surroundings import Found


class Capture:
    """One saved matrix with the counters, and whatever else it holds.

    Args:
        path: a file; ``-`` for standard input.

    Raises:
        ConfigurationError: the file cannot be read.
        SourceError: no matrix of Prometheus, or the counters are not in it.
    """

    def __init__(self, path: str, profile: Profile) -> None:
        self._where = "standard input" if path == "-" else path
        self._profile = profile
        series, self._warnings = decode_matrix(
            Answer(_content(path), self._where, verb="holds")
        )
        self._series = list(series)
        _check_names(self._series, profile, self._where)

    def read(self, start: float = -math.inf, end: float = math.inf) -> Reading:
        """The counters at the scrapes with start ≤ time ≤ end, Unix seconds.

        Raises:
            SourceError: there are none, or ambiguous ones.
        """
        profile, where = self._profile, self._where
        period = Period(start, end)
        identities = identities_of(map(period.within, self._series), profile)
        parts = [pair(self._series, profile, start, end, where)]
        reading = join(parts, self._warnings, identities=identities)
        if reading.batches:
            return reading
        times = [
            float(time)
            for one in self._series
            if one.name in profile.counters
            for time in one.times
        ]
        if not times:
            raise SourceError(f"{where}: its series hold no samples")
        raise SourceError(
            f"{where}: has samples from {show_time(min(times))} to "
            f"{show_time(max(times))}, but none from {show_time(start)} to "
            f"{show_time(end)}; is the deploy time right?"
        )

    def surroundings(self, start: float = -math.inf, end: float = math.inf) -> Found:
        """Plans, fingerprints and starts between the two times, Unix seconds."""
        period = Period(start, end)
        cut = [period.within(series) for series in self._series]
        held = [one for one in cut if one.times.size]
        labels = [one.labels for one in held]
        return Found(
            Surroundings(
                starts=starts_of(held, self._profile),
                plans=plans_of(held, self._profile),
            ),
            fingerprints_of(labels, self._profile),
            texts_of(labels, self._profile),
        )


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
    missing = [name for name in profile.counters if name not in found]
    if missing:
        shown = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
        wanted = "|".join(profile.all_metrics)
        raise SourceError(
            f"{where}: holds {shown}, but no {' and no '.join(missing)}; capture "
            f'{{__name__=~"{wanted}"}}[…], or choose the profile '
            f"({', '.join(PROFILES)}) with these names"
        )
