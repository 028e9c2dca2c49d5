"""Counters → what happened between scrapes."""

from __future__ import annotations

import numpy as np

from ..model import CounterSeries, IntervalMeans

# Scrapes are stored to the millisecond; a sum of floats such as at + window need not
# hit the very number.
_HALF = 0.0005


def between(series: CounterSeries, start: float, end: float) -> CounterSeries:
    """Keep the scrapes with start ≤ time ≤ end, compared in whole milliseconds."""
    first, last = np.searchsorted(series.times, [start - _HALF, end + _HALF])
    kept = slice(int(first), int(last))
    return CounterSeries(
        key=series.key,
        times=series.times[kept],
        calls=series.calls[kept],
        seconds=series.seconds[kept],
        since=None if series.since is None else series.since[kept],
        rows=None if series.rows is None else series.rows[kept],
        blocks=None if series.blocks is None else series.blocks[kept],
        replaces=series.replaces,
    )


def interval_means(series: CounterSeries, *, max_gap: float) -> IntervalMeans:
    """Divide what each interval added to ``seconds`` by what it added to ``calls``.

    Three kinds of interval say nothing and are dropped, never repaired: a counter fell
    or the entry was made anew (``reset``), too many scrapes are missing (``gap``),
    nothing ran (``idle``). An interval that is several of these counts as the first.

    Args:
        series: n scrapes of one query, times in Unix seconds, ascending.
        max_gap: longest interval to trust, seconds.

    Returns:
        m ≤ n − 1 intervals in time order, means in seconds per call; m is 0 when n < 2.

    Raises:
        ValueError: *max_gap* is not positive.

    References:
        PostgreSQL documentation, pg_stat_statements: an entry's counters restart at
        zero after a reset or an eviction; ``stats_since`` (17+) tells when.
    """
    if not max_gap > 0:
        raise ValueError(f"max_gap must be positive, got {max_gap}")
    calls, seconds = np.diff(series.calls), np.diff(series.seconds)
    reset = (calls < 0) | (seconds < 0)
    if series.since is not None:
        # Where either end is unknown (NaN) the subtraction is NaN, which is not > 0:
        # ignorance is no evidence of a restart.
        reset |= np.abs(np.diff(series.since)) > 0
    gap = ~reset & (np.diff(series.times) > max_gap)
    idle = ~reset & ~gap & (calls == 0)
    usable = ~(reset | gap | idle)
    return IntervalMeans(
        key=series.key,
        starts=series.times[:-1][usable],
        ends=series.times[1:][usable],
        calls=calls[usable],
        seconds=seconds[usable],
        means=seconds[usable] / calls[usable],
        dropped={
            "reset": int(reset.sum()),
            "gap": int(gap.sum()),
            "idle": int(idle.sum()),
        },
        rows=None if series.rows is None else np.diff(series.rows)[usable],
        blocks=None if series.blocks is None else np.diff(series.blocks)[usable],
    )
