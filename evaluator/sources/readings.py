"""Raw series → the counters of each query, at the scrapes that stored both (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import SourceError
from ..model import CounterSeries, DataQuality, Floats, QueryKey
from .api import quoted
from .matrix import RawSeries
from .profiles import Profile

# Times at which an entry was made that are closer than this are one time, seconds.
SAME_START = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The counters of all queries, and how much of the data could be used.

    Args:
        series: ascending by key; empty series where no scrape stored both counters.
        first, last: times of the oldest and the newest usable scrape, Unix seconds.
        notes: what is amiss with series that only explain; no reason to distrust.
    """

    series: tuple[CounterSeries, ...] = ()
    quality: DataQuality = field(default_factory=DataQuality)
    first: float | None = None
    last: float | None = None
    notes: tuple[str, ...] = ()


def pair(
    raw: Iterable[RawSeries],
    profile: Profile,
    start: float,
    end: float,
    where: str,
) -> Reading:
    """Put the counters of each query side by side.

    A scrape counts where both counters were stored with finite values; where only one
    was, it is counted as lone. Rows and blocks are put beside them where they are
    known.

    Args:
        raw: other metrics than the profile's are left out.
        start, end: samples with start ≤ time ≤ end are used, compared in whole
            milliseconds, which is all that Prometheus keeps.

    Raises:
        SourceError: two series would be the same query.
    """
    found: dict[QueryKey, dict[str, RawSeries]] = {}
    ambiguous: dict[str, str] = {}
    for series in raw:
        cut = within(series, start, end)
        known = cut.name in profile.metrics or cut.name in profile.details
        if not known or not cut.times.size:
            continue
        metrics = found.setdefault(profile.key(cut.labels), {})
        if cut.name in metrics:
            problem = f"{where}: {_ambiguity(metrics[cut.name], cut)}"
            if cut.name in profile.metrics:
                raise SourceError(problem)
            ambiguous.setdefault(cut.name, f"{problem}; until then it is not used")
        metrics[cut.name] = cut
    for name in ambiguous:
        for metrics in found.values():
            metrics.pop(name, None)
    paired, lone = [], 0
    for key in sorted(found):
        if profile.calls in found[key] or profile.seconds in found[key]:
            counters, alone = _paired(key, found[key], profile)
            paired.append(counters)
            lone += alone
    return _reading(paired, DataQuality(lone_samples=lone), tuple(ambiguous.values()))


def join(
    readings: Iterable[Reading],
    warnings: Iterable[str] = (),
    notes: Iterable[str] = (),
) -> Reading:
    """Readings of different queries as one, with what is said of them and more."""
    parts = list(readings)
    told = [*warnings, *(text for part in parts for text in part.quality.warnings)]
    noted = [*notes, *(text for part in parts for text in part.notes)]
    return _reading(
        sorted((one for part in parts for one in part.series), key=lambda one: one.key),
        DataQuality(
            lone_samples=sum(part.quality.lone_samples for part in parts),
            warnings=tuple(dict.fromkeys(told)),
        ),
        tuple(dict.fromkeys(noted)),
    )


def _reading(
    series: Sequence[CounterSeries], quality: DataQuality, notes: tuple[str, ...]
) -> Reading:
    usable = [one.times for one in series if one.times.size]
    return Reading(
        tuple(series),
        replace(quality, series=len(usable)),
        min((float(times[0]) for times in usable), default=None),
        max((float(times[-1]) for times in usable), default=None),
        notes,
    )


def within(series: RawSeries, start: float, end: float) -> RawSeries:
    """The samples with start ≤ time ≤ end, compared in whole milliseconds."""
    times = _milliseconds(series.times)
    inside = (times >= np.rint(start * 1000)) & (times <= np.rint(end * 1000))
    return RawSeries(series.labels, series.times[inside], series.values[inside])


def _milliseconds(times: Floats) -> Floats:
    return np.rint(times * 1000)


def _paired(
    key: QueryKey, metrics: Mapping[str, RawSeries], profile: Profile
) -> tuple[CounterSeries, int]:
    """The counters at the times of both, and at how many times there is only one."""
    calls = _finite(metrics.get(profile.calls))
    seconds = _finite(metrics.get(profile.seconds))
    common, in_calls, in_seconds = np.intersect1d(
        _milliseconds(calls.times),
        _milliseconds(seconds.times),
        assume_unique=True,
        return_indices=True,
    )
    hit = _at(common, metrics.get(profile.blocks_hit))
    read = _at(common, metrics.get(profile.blocks_read))
    squares = _at(common, metrics.get(profile.squares))
    counters = CounterSeries(
        key,
        times=calls.times[in_calls],
        calls=calls.values[in_calls],
        seconds=seconds.values[in_seconds] * profile.seconds_per_unit,
        since=_at(common, _settled(metrics.get(profile.since))),
        rows=_at(common, metrics.get(profile.rows)),
        blocks=None if hit is None or read is None else hit + read,
        squares=None if squares is None else squares * profile.seconds_per_unit**2,
    )
    return counters, calls.times.size + seconds.times.size - 2 * common.size


def _finite(series: RawSeries | None) -> RawSeries:
    if series is None:
        return RawSeries({}, np.empty(0), np.empty(0))
    good = np.isfinite(series.values)
    return RawSeries(series.labels, series.times[good], series.values[good])


def _at(milliseconds: Floats, series: RawSeries | None) -> Floats | None:
    """The values of *series* at each of these times; NaN where that is unknown."""
    if series is None:
        return None
    known = _finite(series)
    values = np.full(milliseconds.shape, np.nan)
    _, here, there = np.intersect1d(
        milliseconds,
        _milliseconds(known.times),
        assume_unique=True,
        return_indices=True,
    )
    values[here] = known.values[there]
    return values


def _settled(series: RawSeries | None) -> RawSeries | None:
    """The same series, without changes that are only another rounding.

    VictoriaMetrics keeps so few digits of a time that the same one comes back with
    other last digits from other blocks of its storage.
    """
    if series is None:
        return None
    known = _finite(series)
    new = np.abs(np.diff(known.values, prepend=-np.inf)) >= SAME_START
    since = np.maximum.accumulate(np.where(new, np.arange(new.size), 0))
    return RawSeries(known.labels, known.times, known.values[since])


def _ambiguity(one: RawSeries, other: RawSeries) -> str:
    """Which labels tell two series apart that would be the same query."""
    differing = {
        label: (one.labels.get(label, ""), other.labels.get(label, ""))
        for label in sorted({*one.labels, *other.labels})
        if one.labels.get(label, "") != other.labels.get(label, "")
    }
    if not differing:
        return f"the series {dict(one.labels)} is there twice"
    told = " and ".join(
        f"{label} ({values[0]!r} and {values[1]!r})"
        for label, values in differing.items()
    )
    label, values = next(iter(differing.items()))
    return (
        f"two series of {one.name} would be the same query; they differ in {told}; "
        f"choose one with the selector, for example {label}={quoted(values[0])}"
    )
