"""Raw series → batches of counters, at the scrapes that stored both (pure)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import SourceError
from ..model import Batch, DataQuality, Floats, Places, QueryKey
from ..model import join as join_batches
from .api import quoted
from .matrix import RawSeries
from .profiles import Profile

# Times at which an entry was made that are closer than this are one time, seconds.
SAME_START = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The counters of all queries, and how much of the data could be used.

    Args:
        batches: one for each server, ascending; a query at whose scrapes never both
            counters were stored is there without any sample.
        first, last: times of the oldest and the newest usable scrape, Unix seconds.
        notes: what is amiss with series that only explain; no reason to distrust.
    """

    batches: tuple[Batch, ...] = ()
    quality: DataQuality = field(default_factory=DataQuality)
    first: float | None = None
    last: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def servers(self) -> frozenset[str]:
        """Instances that the queries belong to."""
        return frozenset(batch.server for batch in self.batches)


def pair(
    raw: Iterable[RawSeries],
    profile: Profile,
    start: float,
    end: float,
    where: str,
) -> Reading:
    """Put the counters of each query side by side.

    A scrape counts where both counters were stored with finite values; where only one
    was, it is counted as lone. Further columns of the profile are put beside them, NaN
    where they are unknown.

    Args:
        raw: other metrics than the profile's are left out.
        start, end: samples with start ≤ time ≤ end are used, compared in whole
            milliseconds, which is all that Prometheus keeps.

    Raises:
        SourceError: two series would be the same query.
    """
    by_server: dict[str, dict[QueryKey, dict[str, RawSeries]]] = defaultdict(dict)
    ambiguous: dict[str, str] = {}
    period = Period(start, end)
    for series in raw:
        if series.name not in profile.metrics and series.name not in profile.details:
            continue
        cut = period.within(series)
        if not cut.times.size:
            continue
        key = profile.key(cut.labels)
        metrics = by_server[key.instance].setdefault(key, {})
        if cut.name in metrics:
            problem = f"{where}: {_ambiguity(metrics[cut.name], cut)}"
            if cut.name in profile.metrics:
                raise SourceError(problem)
            ambiguous.setdefault(cut.name, f"{problem}; until then it is not used")
        metrics[cut.name] = cut
    batches, lone = [], 0
    for queries in by_server.values():
        counted = {
            key: metrics
            for key, metrics in queries.items()
            if not metrics.keys().isdisjoint(profile.counters)
        }
        if counted:
            batch, alone = _batch(counted, profile, leave_out=ambiguous)
            batches.append(batch)
            lone += alone
    return _reading(batches, DataQuality(lone_samples=lone), tuple(ambiguous.values()))


def join(
    readings: Iterable[Reading],
    warnings: Iterable[str] = (),
    notes: Iterable[str] = (),
) -> Reading:
    """Readings of different queries as one, with their warnings and notes and more."""
    parts = list(readings)
    warned = [*warnings, *(text for part in parts for text in part.quality.warnings)]
    noted = [*notes, *(text for part in parts for text in part.notes)]
    quality = DataQuality(
        lone_samples=sum(part.quality.lone_samples for part in parts),
        warnings=tuple(dict.fromkeys(warned)),
    )
    batches = [batch for part in parts for batch in part.batches]
    return _reading(batches, quality, tuple(dict.fromkeys(noted)))


def _reading(
    batches: Sequence[Batch], quality: DataQuality, notes: tuple[str, ...]
) -> Reading:
    joined = join_batches(batches)
    series, scrapes = 0, []
    for batch in joined:
        present = batch.present
        series += int(np.count_nonzero(present.any(axis=1)))
        scrapes.append(batch.times[present.any(axis=0)])
    stored = np.concatenate(scrapes) if scrapes else np.empty(0)
    return Reading(
        joined,
        replace(quality, series=series),
        float(stored.min()) if stored.size else None,
        float(stored.max()) if stored.size else None,
        notes,
    )


class Period:
    """Cuts series to start ≤ time ≤ end, Unix seconds, in whole milliseconds.

    Series that share their times as one array share them afterwards, too.
    """

    def __init__(self, start: float, end: float) -> None:
        self._ends = np.rint(np.array([start, end]) * 1000)
        self._last: tuple[Floats, slice, Floats] | None = None

    def within(self, series: RawSeries) -> RawSeries:
        """The samples inside."""
        if self._last is None or self._last[0] is not series.times:
            milliseconds = _milliseconds(series.times)
            first = int(milliseconds.searchsorted(self._ends[0], side="left"))
            last = int(milliseconds.searchsorted(self._ends[1], side="right"))
            inside = slice(first, max(first, last))
            self._last = series.times, inside, series.times[inside]
        _, inside, times = self._last
        return RawSeries(series.labels, times, series.values[inside])


def _milliseconds(times: Floats) -> Floats:
    return np.rint(times * 1000)


def _batch(
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
        milliseconds = {key: _milliseconds(times) for key, times in distinct.items()}
        union, first = np.unique(
            np.concatenate(list(milliseconds.values())), return_index=True
        )
        self.times: Floats = np.concatenate(list(distinct.values()))[first]
        # Kept so that no other array can get the same identity meanwhile.
        self._distinct = distinct
        self._places = {
            key: _place(np.searchsorted(union, own))
            for key, own in milliseconds.items()
        }

    def column(
        self, series: Sequence[RawSeries | None], unit: float, *, settled: bool
    ) -> Floats:
        """(q, n) values times *unit*; NaN where a series has none."""
        whole = np.full((len(series), self.times.size), np.nan)
        for row, one in enumerate(series):
            if one is not None:
                values = _settled(one.values) if settled else one.values
                whole[row, self._places[id(one.times)]] = values
        if unit != 1.0:
            whole *= unit
        return whole


def _place(places: Places) -> slice | Places:
    """As a slice where nothing is left out, which is copied much faster."""
    if places.size and places[-1] - places[0] + 1 == places.size:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def _settled(values: Floats) -> Floats:
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


def _ambiguity(one: RawSeries, other: RawSeries) -> str:
    """Which labels tell two series apart that would be the same query."""
    differing = {
        label: (one.labels.get(label, ""), other.labels.get(label, ""))
        for label in sorted({*one.labels, *other.labels})
        if one.labels.get(label, "") != other.labels.get(label, "")
    }
    if not differing:
        return f"the series {dict(one.labels)} is there twice"
    difference = " and ".join(
        f"{label} ({values[0]!r} and {values[1]!r})"
        for label, values in differing.items()
    )
    label, values = next(iter(differing.items()))
    example = f"{label}={quoted(values[0])}"
    return (
        f"two series of {one.name} would be the same query; they differ in "
        f"{difference}; choose one with the selector, for example {example}"
    )
