"""What is compared when a cause is looked for: one query's measures, in one window."""

from __future__ import annotations

import numpy as np

from ...model import CauseKind, ContextSeries, Floats, IntervalMeans


def measured_inside(series: ContextSeries, start: float, end: float) -> ContextSeries:
    """The finite values with start ≤ time ≤ end, Unix seconds."""
    kept = (series.times >= start) & (series.times <= end) & np.isfinite(series.values)
    return ContextSeries(
        series.name, series.instance, series.times[kept], series.values[kept]
    )


def intervals_inside(one: IntervalMeans, start: float, end: float) -> IntervalMeans:
    """The intervals from *start* to *end*, Unix seconds."""
    if one.starts.size and one.starts[0] >= start and one.ends[-1] <= end:
        return one
    kept = (one.starts >= start) & (one.ends <= end)
    return IntervalMeans(
        key=one.key,
        starts=one.starts[kept],
        ends=one.ends[kept],
        calls=one.calls[kept],
        seconds=one.seconds[kept],
        means=one.means[kept],
        dropped=one.dropped,
        rows=None if one.rows is None else one.rows[kept],
        blocks=None if one.blocks is None else one.blocks[kept],
        scatter=None if one.scatter is None else one.scatter[kept],
    )


def own_measures(one: IntervalMeans) -> dict[CauseKind, tuple[Floats, Floats]]:
    """Times and values of the calls per second, rows and blocks per call."""
    rate = one.calls / (one.ends - one.starts)
    measures = {CauseKind.CALL_RATE: (one.starts, rate)}
    for kind, added in (
        (CauseKind.ROWS_PER_CALL, one.rows),
        (CauseKind.BLOCKS_PER_CALL, one.blocks),
    ):
        if added is not None:
            known = np.isfinite(added)
            per_call = added[known] / one.calls[known]
            measures[kind] = one.starts[known], per_call
    return measures


def blocks_ratio(one: IntervalMeans, at: float) -> float | None:
    """Blocks per call after over before, None where unknown."""
    if one.blocks is None:
        return None
    known = np.isfinite(one.blocks)
    sides = known & (one.ends <= at), known & (one.starts >= at)
    blocks = [float(one.blocks[side].sum()) for side in sides]
    calls = [float(one.calls[side].sum()) for side in sides]
    if min(*blocks, *calls) <= 0.0:
        return None
    return (blocks[1] / calls[1]) / (blocks[0] / calls[0])
