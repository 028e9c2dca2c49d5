"""Intervals of many queries → one grid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from ...model import IntervalMeans, Panel


def align(
    queries: Iterable[IntervalMeans], *, at: float, window: float
) -> Panel | None:
    """Put the intervals of one server's queries side by side.

    The scrapes of one server store all its queries at the same instants, so intervals
    with the same end are the same interval; where a query missed a scrape, its longer
    interval stands at its end.

    Args:
        queries: usable intervals, history included, of queries past the floors.
        at: time of the deploy, Unix seconds.
        window: length of each side, seconds.

    Returns:
        A panel with the queries in the order of their keys; None when one side of the
        deploy is empty.
    """
    ordered = sorted(queries, key=lambda query: query.key)
    if not ordered:
        return None
    alike: dict[tuple[bytes, bytes], list[int]] = defaultdict(list)
    for row, query in enumerate(ordered):
        alike[query.starts.tobytes(), query.ends.tobytes()].append(row)
    grids = [(ordered[rows[0]], np.array(rows)[:, None]) for rows in alike.values()]
    ends = np.unique(np.concatenate([query.ends for query, _ in grids]))
    places = [np.searchsorted(ends, query.ends) for query, _ in grids]
    starts = np.full(ends.size, -np.inf)
    means = np.zeros((len(ordered), ends.size))
    calls = np.zeros_like(means)
    known = any(query.scatter is not None for query in ordered)
    scatter = np.full_like(means, np.nan) if known else None
    for (query, rows), place in zip(grids, places, strict=True):
        # The latest start is the plain interval; an earlier one skipped a scrape.
        starts[place] = np.maximum(starts[place], query.starts)
        means[rows, place] = [ordered[row].means for row in rows.flat]
        calls[rows, place] = [ordered[row].calls for row in rows.flat]
        for row in rows.flat:
            if scatter is not None and (own := ordered[row].scatter) is not None:
                scatter[row, place] = own
    before = int(np.searchsorted(ends, at, side="right"))
    after = int(np.searchsorted(starts, at, side="left"))
    inside = int(np.count_nonzero(starts[:before] >= at - window))
    if not inside or after >= ends.size:
        return None
    # A longer interval of one query may straddle the deploy inside a plain column.
    for (query, rows), place in zip(grids, places, strict=True):
        across = place[(query.starts < at) & (query.ends > at)]
        calls[rows, across[across >= after]] = 0.0
    return Panel(
        keys=tuple(query.key for query in ordered),
        starts=starts,
        ends=ends,
        means=means,
        calls=calls,
        before=before,
        after=after,
        window=inside,
        scatter=scatter,
    )
