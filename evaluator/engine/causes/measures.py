"""The measures in which causes are looked for, cut to the windows."""

from __future__ import annotations

import numpy as np

from ...model import CauseKind, ContextSeries, Floats, IntervalMeans


def measured_inside(series: ContextSeries, start: float, end: float) -> ContextSeries:
    """The finite values with start ≤ time ≤ end, Unix seconds."""
    kept = (series.times >= start) & (series.times <= end) & np.isfinite(series.values)
    return ContextSeries(
        series.name, series.instance, series.times[kept], series.values[kept]
    )


def intervals_inside(
    intervals: IntervalMeans, start: float, end: float
) -> IntervalMeans:
    """The intervals from *start* to *end*, Unix seconds."""
    if (
        intervals.starts.size
        and intervals.starts[0] >= start
        and intervals.ends[-1] <= end
    ):
        return intervals
    kept = (intervals.starts >= start) & (intervals.ends <= end)
    return IntervalMeans(
        key=intervals.key,
        starts=intervals.starts[kept],
        ends=intervals.ends[kept],
        calls=intervals.calls[kept],
        seconds=intervals.seconds[kept],
        means=intervals.means[kept],
        dropped=intervals.dropped,
        rows=None if intervals.rows is None else intervals.rows[kept],
        blocks=None if intervals.blocks is None else intervals.blocks[kept],
        scatter=None if intervals.scatter is None else intervals.scatter[kept],
    )


def own_measures(intervals: IntervalMeans) -> dict[CauseKind, tuple[Floats, Floats]]:
    """Times and values of the calls per second, rows and blocks per call."""
    rate = intervals.calls / (intervals.ends - intervals.starts)
    measures = {CauseKind.CALL_RATE: (intervals.starts, rate)}
    for kind, added in (
        (CauseKind.ROWS_PER_CALL, intervals.rows),
        (CauseKind.BLOCKS_PER_CALL, intervals.blocks),
    ):
        if added is not None:
            known = np.isfinite(added)
            per_call = added[known] / intervals.calls[known]
            measures[kind] = intervals.starts[known], per_call
    return measures


def blocks_ratio(intervals: IntervalMeans, at: float) -> float | None:
    """Blocks per call after over before, None where unknown."""
    if intervals.blocks is None:
        return None
    known = np.isfinite(intervals.blocks)
    sides = known & (intervals.ends <= at), known & (intervals.starts >= at)
    blocks = [float(intervals.blocks[side].sum()) for side in sides]
    calls = [float(intervals.calls[side].sum()) for side in sides]
    if min(*blocks, *calls) <= 0.0:
        return None
    return (blocks[1] / calls[1]) / (blocks[0] / calls[0])
