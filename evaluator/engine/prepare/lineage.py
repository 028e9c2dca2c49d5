"""A statement whose query id changed at the deploy is followed as one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...model import CounterSeries, Floats, QueryKey


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
        used = [_used(one, oldest[instance]) for one in family]
        old = [
            one
            for one, use in zip(family, used, strict=True)
            if use and use[0] < at - tolerance and abs(use[1] - at) <= tolerance
        ]
        new = [
            (one, use[0])
            for one, use in zip(family, used, strict=True)
            if use and abs(use[0] - at) <= tolerance
        ]
        if len(old) == len(new) == 1:
            del kept[old[0].key]
            kept[new[0][0].key] = _joined(old[0], *new[0])
    return tuple(kept[key] for key in sorted(kept))


def _used(series: CounterSeries, begun: float) -> tuple[float, float] | None:
    """From when to when the id was called; None if it never was.

    Args:
        begun: oldest scrape of the server; an entry that is younger was made by a call.
    """
    rises = np.flatnonzero(np.diff(series.calls) > 0)
    if not rises.size:
        return None
    first = 0 if series.times[0] > begun else rises[0]
    return float(series.times[first]), float(series.times[rises[-1] + 1])


def _joined(old: CounterSeries, new: CounterSeries, seam: float) -> CounterSeries:
    """*old* up to the scrape at *seam*, and *new*, counted from there."""
    kept = old.times < seam
    first = int(new.times.searchsorted(seam))

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
        squares=optional(old.squares, new.squares),
        replaces=old.key.queryid,
    )
