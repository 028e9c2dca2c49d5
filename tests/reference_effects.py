"""Slow twins of the effects: one statement, one interval, one sum at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from evaluator.model import Batch


def sides(
    batch: Batch, at: float, start: float, end: float, max_gap: float
) -> list[tuple[tuple[float, float, float], ...]]:
    """For each statement (calls, seconds, observed seconds) before and after."""
    return [
        tuple(
            _side(batch, row, low, high, max_gap)
            for low, high in ((start, at), (at, end))
        )
        for row in range(len(batch.keys))
    ]


def _side(
    batch: Batch, row: int, low: float, high: float, max_gap: float
) -> tuple[float, float, float]:
    times = batch.times.tolist()
    calls, seconds = batch.calls[row].tolist(), batch.seconds[row].tolist()
    there = [place for place, value in enumerate(calls) if not math.isnan(value)]
    total, spent, observed = 0.0, 0.0, 0.0
    for old, new in pairwise(there):
        if times[old] < low or times[new] > high or times[new] - times[old] > max_gap:
            continue
        more, longer = calls[new] - calls[old], seconds[new] - seconds[old]
        if more < 0 or longer < 0:
            continue
        observed += times[new] - times[old]
        if more > 0:
            total, spent = total + more, spent + longer
    for old, new in pairwise(range(len(times))):
        # Before the entry was made, and after it had gone, it ran zero times.
        gone = not there or new < there[0] or new > there[-1]
        inside = times[old] >= low and times[new] <= high
        if gone and inside and times[new] - times[old] <= max_gap:
            observed += times[new] - times[old]
    return total, spent, observed


def parts(
    before: Sequence[float], after: Sequence[float], *, new: bool, vanished: bool
) -> Mapping[str, float]:
    """What one statement adds to each part of the change of load (Bennet 1920)."""
    (l0, m0), (l1, m1) = (_rate_and_mean(side) for side in (before, after))
    whole = l1 * m1 - l0 * m0
    if new or vanished:
        return {"new_statements" if new else "vanished_statements": whole}
    if l0 == 0:
        m0 = m1
    if l1 == 0:
        m1 = m0
    return {
        "slower_calls": (m1 - m0) * (l0 + l1) / 2,
        "more_calls": (l1 - l0) * (m0 + m1) / 2,
    }


def _rate_and_mean(side: Sequence[float]) -> tuple[float, float]:
    calls, seconds, observed = side
    rate = calls / observed if observed else 0.0
    return rate, seconds / calls if calls else 0.0
