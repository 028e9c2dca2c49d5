"""Series of one query that follow one another → one series (pure).

A label that has nothing to do with the query changes when the exporter's pod is
replaced or its job renamed, and Prometheus begins a new series. The counters are
PostgreSQL's, so they go on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...model import Floats
from ..api import matcher
from ..matrix import RawSeries, once, same_value

# A pod that is replaced may still be scraped beside its successor: for so many scrapes,
# or so long if that is longer, in seconds; Kubernetes gives it 30 s to end.
SCRAPES_TOGETHER, SECONDS_TOGETHER = 5, 90.0
# Digits that a storage loses, relative to the counter.
_LOST = 1e-9


@dataclass(frozen=True, slots=True)
class Clash:
    """Two series that would be the same query at the same time.

    Args:
        one, other: labels of both.
        newest: labels of the one to propose; it still has samples.
    """

    one: Mapping[str, str]
    other: Mapping[str, str]
    newest: Mapping[str, str]


class Successions:
    """Joins series; what shared its times before shares them afterwards, too."""

    def __init__(self) -> None:
        self._joined: dict[tuple[int, ...], tuple[Floats, Floats, Floats]] = {}

    def one_of(self, series: Sequence[RawSeries]) -> RawSeries | Clash:
        """All samples of *series* as one series with the labels of the newest.

        Without overlap one follows the other; a counter that starts lower is a reset as
        within one series. Where they overlap with equal values, these count once. Where
        the older ends a few scrapes after the newer began, and the counters went on
        meanwhile, the newer counts from its first sample on.

        Args:
            series: of one metric of one query, each with at least one sample.
        """
        ordered = sorted(series, key=lambda one: (one.times[0], one.times[-1]))
        whole, last = ordered[0], ordered[0]
        for following in ordered[1:]:
            joined = self._join(whole, following)
            if joined is None:
                newest = max(series, key=lambda one: one.times[-1])
                pair = last.labels, following.labels
                # As they were given, which is how the server sorts them.
                if series.index(last) > series.index(following):
                    pair = pair[::-1]
                return Clash(*pair, newest.labels)
            whole = joined
            if following.times[-1] >= last.times[-1]:
                last = following
        return whole

    def _join(self, whole: RawSeries, following: RawSeries) -> RawSeries | None:
        later = following.times[-1] >= whole.times[-1]
        labels = following.labels if later else whole.labels
        conflicts = whole.conflicts + following.conflicts
        if whole.times[-1] < following.times[0]:
            values = np.concatenate([whole.values, following.values])
            times = self._times(whole.times, following.times)
            return RawSeries(labels, times, values, conflicts)
        if (same := _counted_once(whole, following)) is not None:
            return RawSeries(labels, *same, conflicts)
        if later and _hands_over(whole, following):
            kept = int(whole.times.searchsorted(following.times[0]))
            values = np.concatenate([whole.values[:kept], following.values])
            times = self._times(whole.times[:kept], following.times)
            return RawSeries(labels, times, values, conflicts)
        return None

    def _times(self, one: Floats, other: Floats) -> Floats:
        """Both, as one array for the same two however often they come."""
        key = one.ctypes.data, one.size, other.ctypes.data, other.size
        known = self._joined.get(key)
        if known is None:
            # Both are kept, so that no others can come to lie in their place.
            known = self._joined[key] = one, other, np.concatenate([one, other])
        return known[2]


def _counted_once(one: RawSeries, other: RawSeries) -> tuple[Floats, Floats] | None:
    """Both as one, if they say the same while there are both."""
    start = max(one.times[0], other.times[0])
    end = min(one.times[-1], other.times[-1])
    inside = [
        part.times[slice(*part.times.searchsorted([start, np.nextafter(end, np.inf)]))]
        for part in (one, other)
    ]
    shared = np.intersect1d(inside[0], inside[1]).size
    if not shared or shared < min(map(len, inside)):
        return None
    order = np.argsort(times := np.concatenate([one.times, other.times]), kind="stable")
    values = np.concatenate([one.values, other.values])
    together, kept, differ = once(times[order], values[order])
    return None if differ else (together, kept)


def _hands_over(older: RawSeries, newer: RawSeries) -> bool:
    """Whether both read the same counters for the few scrapes of their overlap."""
    steps = np.concatenate([np.diff(older.times), np.diff(newer.times)])
    if not steps.size:
        return False
    overlap = older.times[-1] - newer.times[0]
    if overlap > max(SCRAPES_TOGETHER * float(np.median(steps)), SECONDS_TOGETHER):
        return False
    since = int(older.times.searchsorted(newer.times[0]))
    times = np.concatenate([older.times[max(0, since - 1) :], newer.times])
    values = np.concatenate([older.values[max(0, since - 1) :], newer.values])
    together = times <= older.times[-1]
    times, values = times[together], values[together]
    order = np.lexsort((values, times))
    at, ordered = times[order], values[order]
    if np.any((np.diff(at) == 0) & ~same_value(ordered[:-1], ordered[1:])):
        return False
    with np.errstate(invalid="ignore"):
        return not np.any(np.diff(ordered) < -_LOST * np.abs(ordered[:-1]))


def ambiguity(metric: str, clash: Clash) -> str:
    """Which labels tell both series apart, and how to choose one that still exists."""
    one, other = clash.one, clash.other
    differing = {
        label: (one.get(label, ""), other.get(label, ""))
        for label in sorted({*one, *other}, key=preference)
        if one.get(label, "") != other.get(label, "")
    }
    if not differing:
        return f"the series {dict(one)} is there twice, with different values"
    difference = " and ".join(
        f"{label} ({values[0]!r} and {values[1]!r})"
        for label, values in sorted(differing.items())
    )
    label = next(iter(differing))
    return (
        f"two series of {metric} would be the same query; they differ in "
        f"{difference}; choose one with the selector, for example "
        f"{matcher(label, clash.newest.get(label, ''))}"
    )


def preference(label: str) -> tuple[bool, bool, str]:
    """Sorts ``job`` first, and last what a pod has, which is another tomorrow."""
    passing = any(part in label for part in ("pod", "container", "uid", "endpoint"))
    return passing, label != "job", label
