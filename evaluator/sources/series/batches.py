"""Series of one server side by side, at the union of their scrapes (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...model import Batch, Floats, Places, QueryKey
from ..matrix import RawSeries
from ..profiles import Profile

# Times at which an entry was made that are closer than this are one time, seconds.
SAME_START = 1e-3


class Period:
    """Cuts series to start ≤ time ≤ end, Unix seconds, in whole milliseconds.

    Series that share their times as one array share them afterwards, too.
    """

    def __init__(self, start: float, end: float) -> None:
        self._ends = np.rint(np.array([start, end]) * 1000)
        # With the whole times, so that no others can get their identity meanwhile.
        self._known: dict[int, tuple[Floats, slice, Floats]] = {}

    def within(self, series: RawSeries) -> RawSeries:
        """The samples inside."""
        known = self._known.get(id(series.times))
        if known is None:
            at = milliseconds(series.times)
            first = int(at.searchsorted(self._ends[0], side="left"))
            last = int(at.searchsorted(self._ends[1], side="right"))
            inside = slice(first, max(first, last))
            known = series.times, inside, series.times[inside]
            self._known[id(series.times)] = known
        _, inside, times = known
        return RawSeries(series.labels, times, series.values[inside], series.conflicts)


def milliseconds(times: Floats) -> Floats:
    """Unix seconds in whole milliseconds, which is all that Prometheus keeps."""
    return np.rint(times * 1000)


def batch_of(
    queries: Mapping[QueryKey, Mapping[str, RawSeries]],
    profile: Profile,
    leave_out: Iterable[str],
) -> tuple[Batch, int]:
    """The queries of one server on the union of their scrapes, and lone samples."""
    keys = tuple(sorted(queries))
    grid = _Grid([one for metrics in queries.values() for one in metrics.values()])

    def column(metric: str, unit: float = 1.0) -> Floats | None:
        if not metric or metric in leave_out:
            return None
        series = [queries[key].get(metric) for key in keys]
        if not any(series):
            return None
        return grid.column(series, unit, settled=metric == profile.since)

    unit = profile.seconds_per_unit
    nothing = np.full((len(keys), grid.times.size), np.nan)
    calls, seconds = column(profile.calls), column(profile.seconds, unit)
    calls = nothing.copy() if calls is None else calls
    seconds = nothing if seconds is None else seconds
    has_calls, has_seconds = np.isfinite(calls), np.isfinite(seconds)
    both = has_calls & has_seconds
    lone = int(np.count_nonzero(has_calls ^ has_seconds))
    for counter in (calls, seconds):
        counter[~both] = np.nan
    columns = {"calls": calls, "seconds": seconds}
    hit, read = column(profile.blocks_hit), column(profile.blocks_read)
    further = {
        "since": column(profile.since),
        "squares": column(profile.squares, unit**2),
        "rows": column(profile.rows),
        "blocks": None if hit is None or read is None else hit + read,
    }
    for name, values in further.items():
        if values is not None:
            values[~(both & np.isfinite(values))] = np.nan
            columns[name] = values
    return Batch(keys, grid.times, columns), lone


class _Grid:
    """The scrapes of one server: the union of the times of its series."""

    def __init__(self, series: Iterable[RawSeries]) -> None:
        distinct = {id(one.times): one.times for one in series}
        at = {key: milliseconds(times) for key, times in distinct.items()}
        union, first = np.unique(np.concatenate(list(at.values())), return_index=True)
        self.times: Floats = np.concatenate(list(distinct.values()))[first]
        # Kept so that no other array can get the same identity meanwhile.
        self._distinct = distinct
        self._places = {
            key: _place(np.searchsorted(union, own)) for key, own in at.items()
        }

    def column(
        self, series: Sequence[RawSeries | None], unit: float, *, settled: bool
    ) -> Floats:
        """(q, n) values times *unit*; NaN where a series has none."""
        whole = np.full((len(series), self.times.size), np.nan)
        for row, one in enumerate(series):
            if one is not None:
                values = one_rounding(one.values) if settled else one.values
                whole[row, self._places[id(one.times)]] = values
        if unit != 1.0:
            whole *= unit
        return whole


def _place(places: Places) -> slice | Places:
    """As a slice where nothing is left out, which is copied much faster."""
    if places.size and places[-1] - places[0] + 1 == places.size:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def one_rounding(values: Floats) -> Floats:
    """The same values, without changes that are only another rounding.

    VictoriaMetrics keeps so few digits of a time that the same one comes back with
    other last digits from other blocks of its storage.
    """
    known = np.flatnonzero(np.isfinite(values))
    settled = values.copy()
    kept = values[known]
    new = np.abs(np.diff(kept, prepend=-np.inf)) >= SAME_START
    settled[known] = kept[np.maximum.accumulate(np.where(new, np.arange(new.size), 0))]
    return settled
