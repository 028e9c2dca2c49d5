"""Slow twins of the test of call rates: one statement, one stretch at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import fmean, median

from scipy import stats

from evaluator.model import Batch


def calls_in_stretches(
    batch: Batch, row: int, at: float, stretches: range, width: float, max_gap: float
) -> list[tuple[float, float]]:
    """Calls and observed seconds of one statement in each stretch from the deploy."""
    there = [
        (float(time), float(calls), float(seconds))
        for time, calls, seconds in zip(
            batch.times, batch.calls[row], batch.seconds[row], strict=True
        )
        if not math.isnan(calls)
    ]
    scrapes = batch.times.tolist()
    found = {stretch: [0.0, 0.0] for stretch in stretches}
    for (start, c0, s0), (end, c1, s1) in itertools.pairwise(there):
        if c1 < c0 or s1 < s0 or end - start > max_gap or start < at < end:
            continue
        # It stands where the last of its parts stands.
        last = scrapes[scrapes.index(end) - 1]
        stretch = math.floor(((last + end) / 2 - at) / width)
        if stretch in found:
            found[stretch][0] += c1 - c0
            found[stretch][1] += end - start
    return [(calls, observed) for calls, observed in found.values()]


def rate_score(
    logs: Sequence[float], before: int, window: int, baseline: int
) -> tuple[float, float]:
    """Score and autocorrelation of one statement with a long history, alone.

    Args:
        logs: logarithms of its call rate, none missing.
        before: how many of them are of before the deploy.
    """
    level = median(logs[:before])
    values = [value - level for value in logs]
    reach = 4 * median(abs(value) for value in values[:before]) / 0.6744897501960817
    later = median(values[before:])
    values = [
        min(max(value, centre - reach), centre + reach)
        for place, value in enumerate(values)
        for centre in [0.0 if place < before else later]
    ]
    mean = fmean(values[:before])
    past = [value - mean for value in values[:before]]
    squares = sum(value * value for value in past)
    phi = sum(a * b for a, b in itertools.pairwise(past)) / squares
    phi += (1 + 3 * phi) / before
    length = max(5, round(2 / 3 * window))
    runs = [sum(past[first : first + length]) for first in range(before - length + 1)]
    power = fmean(run * run for run in runs)
    ratio = power / length / (squares / before) / (1 - length / before)
    error = squares / (before - 1) * ratio
    error *= 1 / (len(logs) - before) + 1 / baseline
    rise = fmean(values[before:]) - fmean(values[before - baseline : before])
    t = rise / math.sqrt(error)
    dof = 1.2 * before / length
    return float(stats.norm.isf(stats.t.sf(t, dof))), phi
