"""A statement whose query id changed at the deploy is followed as one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..model import CounterSeries, Floats, QueryKey


def follow(
    series: Sequence[CounterSeries],
    fingerprints: Mapping[QueryKey, str],
    *,
    at: float,
    tolerance: float,
) -> tuple[CounterSeries, ...]:
    """Join the counters of a statement before and after its query id changed.

    The old entry stays in pg_stat_statements, so "ends" means that its calls stop
    rising, and "begins" that an entry appears or its calls start to rise. Both must
    happen near the deploy; they may overlap, since processes that are replaced one by
    one call both ids for a while. Only one old and one new id of the same statement on
    the same instance, database, user and level are joined; with more of them nobody
    knows which followed which.

    Args:
        series: one for each query; history before the windows may be in them.
        fingerprints: of the queries whose statement is known.
        at: time of the deploy, Unix seconds.
        tolerance: how far from it an id may end or begin, seconds.

    Returns:
        Ascending by key; joined ones under the new key with ``replaces`` set. Their
        counters fall at the seam, so that its interval is dropped as a reset.
    """
    oldest: dict[str, float] = defaultdict(lambda: np.inf)
    families: dict[tuple[str, ...], list[CounterSeries]] = defaultdict(list)
    for one in series:
        key = one.key
        if one.times.size > 1:
            oldest[key.instance] = min(oldest[key.instance], float(one.times[0]))
            if fingerprint := fingerprints.get(key):
                same = (key.instance, key.database, key.user, key.toplevel, fingerprint)
                families[same].append(one)
    kept = {one.key: one for one in series}
    for (instance, *_), family in families.items():
        if len(family) < 2:
            continue
        begun = oldest[instance]
        old = [one for one in family if _ends(one, begun, at, tolerance)]
        new = [one for one in family if _begins(one, begun, at, tolerance)]
        if len(old) == len(new) == 1 and old[0].key != new[0].key:
            del kept[old[0].key]
            kept[new[0].key] = _joined(old[0], new[0], _first(new[0], begun))
    return tuple(kept[key] for key in sorted(kept))


def _rises(series: CounterSeries) -> NDArray[np.intp]:
    """Indices of the scrapes after which the calls rose."""
    return np.flatnonzero(np.diff(series.calls) > 0)


def _first(series: CounterSeries, begun: float) -> int:
    """Index of the scrape from which the id is in use."""
    if series.times[0] > begun:
        return 0
    rises = _rises(series)
    return int(rises[0]) if rises.size else series.times.size


def _begins(series: CounterSeries, begun: float, at: float, tolerance: float) -> bool:
    first = _first(series, begun)
    rises = _rises(series).size > 0
    return bool(rises and abs(float(series.times[first]) - at) <= tolerance)


def _ends(series: CounterSeries, begun: float, at: float, tolerance: float) -> bool:
    """Whether it was in use well before the deploy, and not long after it."""
    rises = _rises(series)
    if not rises.size or float(series.times[_first(series, begun)]) >= at - tolerance:
        return False
    return abs(float(series.times[rises[-1] + 1]) - at) <= tolerance


def _joined(old: CounterSeries, new: CounterSeries, first: int) -> CounterSeries:
    """*old* up to the scrape *first* of *new*, whose counters count from there."""
    kept = old.times < new.times[first]

    def column(before: Floats | None, after: Floats | None, zero: float) -> Floats:
        left = np.full(old.times.shape, np.nan) if before is None else before
        right = np.full(new.times.shape, np.nan) if after is None else after
        return np.concatenate([left[kept], right[first:] - zero])

    def optional(before: Floats | None, after: Floats | None) -> Floats | None:
        if before is None and after is None:
            return None
        return column(before, after, 0.0)

    return replace(
        new,
        times=column(old.times, new.times, 0.0),
        calls=column(old.calls, new.calls, float(new.calls[first])),
        seconds=column(old.seconds, new.seconds, float(new.seconds[first])),
        since=optional(old.since, new.since),
        rows=optional(old.rows, new.rows),
        blocks=optional(old.blocks, new.blocks),
        replaces=old.key.queryid,
    )
