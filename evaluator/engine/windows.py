"""Interval means → the two sides of the deploy, if both hold enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model import Comparison, Insufficient, IntervalMeans, Window


def compare(
    intervals: IntervalMeans, *, at: float, min_samples: int, min_calls: int
) -> Comparison | Insufficient:
    """Sum up what ended by *at* and what started from *at* on.

    An interval across *at* belongs to neither side, since its calls cannot be told
    apart.

    Args:
        intervals: usable intervals of one query inside both windows.
        at: time of the deploy, Unix seconds.
        min_samples: fewest intervals each side needs.
        min_calls: fewest calls each side needs.
    """
    before = _window(intervals, intervals.ends <= at)
    after = _window(intervals, intervals.starts >= at)
    missing = [
        f"{count:g} of {floor} {what} {side} the deploy"
        for side, window in (("before", before), ("after", after))
        for what, count, floor in (
            ("intervals", window.samples, min_samples),
            ("calls", window.calls, min_calls),
        )
        if count < floor
    ]
    if missing or not before.seconds > 0 or after.mean is None or before.mean is None:
        reason = ", ".join(missing) or "no execution time recorded before the deploy"
        return Insufficient(before, after, reason)
    return Comparison(before, after, factor=after.mean / before.mean)


def _window(intervals: IntervalMeans, inside: NDArray[np.bool_]) -> Window:
    calls = intervals.calls[inside]
    span = (
        float(intervals.ends[inside][-1] - intervals.starts[inside][0])
        if calls.size
        else 0.0
    )
    return Window(
        samples=calls.size,
        calls=float(calls.sum()),
        seconds=float(intervals.seconds[inside].sum()),
        duration=span,
    )
