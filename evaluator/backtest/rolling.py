"""A long period read in short chunks, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import IncompleteDataError, NoDataError
from ..model import CounterSeries, Floats, QueryKey
from ..sources.readings import Reading
from ..units import show_time

# Longest chunk that is read at once, seconds.
_CHUNK = 3600.0
# Prometheus keeps whole milliseconds: the next chunk begins one after the last.
_NEXT = 0.001


class RollingCounters:
    """Moves forward through the counters; every sample is read once.

    Args:
        read: the counters between two moments, Unix seconds.
        start: nothing before it is ever read, Unix seconds.
    """

    def __init__(self, read: Callable[[float, float], Reading], start: float) -> None:
        self._read = read
        self._until = start
        self._held: dict[QueryKey, CounterSeries] = {}
        self.seen: set[QueryKey] = set()

    def between(self, start: float, end: float) -> list[CounterSeries]:
        """Counters of the queries with samples between two moments.

        Args:
            start: not before that of an earlier call; what is older is forgotten.

        Raises:
            SourceError: the counters could not be read.
            IncompleteDataError: the source reports that its answer is partial.
        """
        self._forget(start)
        self._until = max(self._until, start)
        while self._until < end:
            until = min(end, self._until + _CHUNK)
            self._add(self._until, until)
            self._until = until + _NEXT
        return list(self._held.values())

    def _forget(self, start: float) -> None:
        kept = {}
        for key, series in self._held.items():
            first = int(np.searchsorted(series.times, start))
            if first < series.times.size:
                kept[key] = _cut(series, first)
        self._held = kept

    def _add(self, start: float, end: float) -> None:
        try:
            reading = self._read(start, end)
        except NoDataError:
            # Nothing was scraped then, or it is not kept any more.
            return
        if reading.quality.warnings:
            raise IncompleteDataError(
                f"the counters from {show_time(start)} to {show_time(end)} are "
                f"partial, so nothing is concluded from them: "
                f"{'; '.join(reading.quality.warnings)}"
            )
        for series in reading.series:
            if series.times.size:
                self.seen.add(series.key)
                held = self._held.get(series.key)
                self._held[series.key] = (
                    _cut(series) if held is None else _joined(held, series)
                )


def _cut(series: CounterSeries, first: int = 0) -> CounterSeries:
    """The columns that an engine needs, from the *first* scrape on, copied."""
    return CounterSeries(
        series.key,
        series.times[first:].copy(),
        series.calls[first:].copy(),
        series.seconds[first:].copy(),
        None if series.since is None else series.since[first:].copy(),
        squares=None if series.squares is None else series.squares[first:].copy(),
    )


def _joined(earlier: CounterSeries, later: CounterSeries) -> CounterSeries:
    return CounterSeries(
        earlier.key,
        np.concatenate([earlier.times, later.times]),
        np.concatenate([earlier.calls, later.calls]),
        np.concatenate([earlier.seconds, later.seconds]),
        _optional(earlier, earlier.since, later, later.since),
        squares=_optional(earlier, earlier.squares, later, later.squares),
    )


def _optional(
    earlier: CounterSeries,
    first: Floats | None,
    later: CounterSeries,
    second: Floats | None,
) -> Floats | None:
    """Two columns joined, NaN where a series does not have the column."""
    if first is None and second is None:
        return None
    if first is None:
        first = np.full(earlier.times.shape, np.nan)
    if second is None:
        second = np.full(later.times.shape, np.nan)
    return np.concatenate([first, second])
