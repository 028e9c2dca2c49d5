"""Slow twin of the calibrated rule: docs/statistics.md, loop by loop.

A query is a list of (mean, calls) or None, one for each interval; its dispersion, where
known, a list of squared distances from the mean, summed, or None. Nothing is taken from
the fast functions but the table of the selection.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, median

from tests.reference import best_split
from tests.reference_rows import Deployed as Deployed
from tests.reference_rows import Query as Query
from tests.reference_rows import Row, known, mad
from tests.reference_scores import (
    grown,
    noise_of,
    placebos,
    score,
    settled,
    shrunk,
    stretched,
)


def scores(
    queries: Sequence[Query], at: Deployed, dispersion: Sequence[Row] | None = None
) -> tuple[list[float], list[int]]:
    """Score of each query, and the interval that begins its right segment."""
    past = range(at.before)
    family = len(queries) >= 20
    rows = [_logs(query, past) for query in queries]
    doubts = [0.0] * len(rows)
    if family and at.before >= 20:
        rows, doubts = _without_factor(rows, at)
    winsorised, weights, splits = [], [], []
    for number, (query, row) in enumerate(zip(queries, rows, strict=True)):
        calls = [None if q is None else q[1] for q in query]
        variance, deviance = _variances(calls, row, at)
        even, weight = _even(_levelled(row, variance, past), variance, past)
        window = [i for i in range(at.before - at.window, at.total) if even[i]]
        split, _ = best_split([even[i] or 0.0 for i in window])
        splits.append(window[split])
        if at.long and dispersion is not None:
            by_spread, better = _variances(
                _equal_calls(query, dispersion[number]), row, at
            )
            if better < deviance - 4:
                variance = by_spread
                even, weight = _even(_levelled(row, variance, past), variance, past)
        flat = _winsorised(even, weight, at)
        winsorised.append(
            [
                None if u is None else u * math.sqrt(v or 1.0)
                for u, v in zip(flat, variance, strict=True)
            ]
        )
        weights.append(weight)
    flats: list[Row] = [
        [
            None if r is None else r * math.sqrt(w)
            for r, w in zip(row, weight, strict=True)
        ]
        for row, weight in zip(winsorised, weights, strict=True)
    ]
    noises = [
        noise_of(flat, weight, at) for flat, weight in zip(flats, weights, strict=True)
    ]
    if family and at.long:
        noises = shrunk(noises)
    found = []
    for row, weight, noise, doubt in zip(
        winsorised, weights, noises, doubts, strict=True
    ):
        kept = settled(row, weight, noise, at)
        swell = grown(row, kept, noise, at) if at.long else 1.0
        sides = at.before, at.before, at.total, at.baseline
        found.append(score(row, kept, noise, *sides, doubt, swell))
    if family and at.long:
        found = stretched(found, placebos(winsorised, weights, noises, at))
    return found, splits


def _logs(query: Query, past: range) -> Row:
    level = median(query[i][0] for i in past if query[i] is not None)  # type: ignore[index]
    return [None if q is None else math.log(max(q[0] / level, 1e-3)) for q in query]


def _without_factor(rows: list[Row], at: Deployed) -> tuple[list[Row], list[float]]:
    past = range(at.before)
    spread = [max(mad(known(row, past)), 1e-3) for row in rows]
    factor = []
    for i in range(at.total):
        column = [value for row in rows if (value := row[i]) is not None]
        factor.append(median(column) if column else 0.0)
    middle = median(factor[: at.before])
    factor = [value - middle for value in factor]
    step = _step(factor, at)
    factor = [value - step * (i >= at.before) for i, value in enumerate(factor)]
    present = sum(value is not None for row in rows for value in row) / at.total
    noise = math.pi / 2 / (fmean(1 / s for s in spread) ** 2 * present)
    real = max(0.0, 1 - noise / fmean(value**2 for value in factor))
    level = fmean(factor[: at.before])
    base = factor[at.before - at.baseline : at.before]
    swing = fmean(factor[at.before :]) - fmean(base)
    out, doubts = [], []
    for row, s in zip(rows, spread, strict=True):
        prior = 3 * s**2 / 0.25
        pairs = [(r, factor[i] - level) for i in past if (r := row[i]) is not None]
        alone = sum(f * f for _, f in pairs) + prior
        loading = (sum(r * f for r, f in pairs) + prior * real) / alone
        doubts.append(3 * s**2 / alone * swing**2)
        out.append(
            [None if r is None else r - loading * factor[i] for i, r in enumerate(row)]
        )
    return out, doubts


def _step(factor: Sequence[float], at: Deployed) -> float:
    def rise(here: int) -> float:
        return fmean(factor[here : here + 10]) - fmean(factor[here - 10 : here])

    usual = max(abs(rise(here)) for here in range(10, at.before - 9))
    level = fmean(factor[at.before - 10 : at.before])
    step = median(factor[at.before : at.before + 10]) - level
    later = factor[at.before + 10 :]
    if len(later) >= 5:
        lasting = median(later) - level
        if step > 0:
            step = step if lasting >= step / 2 else max(lasting, 0.0)
        else:
            step = step if lasting <= step / 2 else min(lasting, 0.0)
    return step if abs(step) > max(1.5 * usual, math.log(1.1)) else 0.0


def _equal_calls(query: Query, dispersion: Row) -> Row:
    """Calls of the usual spread that would tell as much, by the neighbours' spread."""

    def spread(places: Iterable[int]) -> float | None:
        known = [
            (s, *q)
            for i in places
            if (q := query[i]) is not None and (s := dispersion[i]) is not None
        ]
        if not known:
            return None
        variance = sum(s for s, _, _ in known) / sum(c - 1 for _, _, c in known)
        calls = sum(c for _, _, c in known)
        return variance / (sum(m * c for _, m, c in known) / calls) ** 2

    usual = spread(range(len(query))) or 1.0
    equal: Row = []
    for i, one in enumerate(query):
        beside = range(max(i - 5, 0), min(i + 6, len(query)))
        near = spread(j for j in beside if j != i)
        share = 1.0 if near is None else max(near / usual, 0.01)
        equal.append(None if one is None else one[1] / share)
    return equal


def _variances(counted: Row, row: Row, at: Deployed) -> tuple[Row, float]:
    sides = [range(at.before)] if at.long else [range(at.before), at.after]
    pairs = []
    for side in sides:
        level = median(known(row, side))
        pairs += [
            (r - level, c)
            for i in side
            if (r := row[i]) is not None and (c := counted[i]) is not None
        ]
    usual = 1 / fmean(1 / calls for _, calls in pairs)

    def variance(ratio: float, calls: float) -> float:
        return (1 + ratio * usual / calls) / (1 + ratio)

    def deviance(ratio: float) -> float:
        of = [variance(ratio, calls) for _, calls in pairs]
        scale = fmean(r * r / v for (r, _), v in zip(pairs, of, strict=True))
        return len(pairs) * math.log(scale) + sum(map(math.log, of))

    ratio = min((0.0, 0.4, 2.5, 1e6), key=deviance)
    rows: Row = [None if c is None else variance(ratio, c) for c in counted]
    return rows, deviance(ratio)


def _levelled(row: Row, variance: Row, past: range) -> Row:
    scaled = [
        None if r is None or v is None else r / math.sqrt(v)
        for r, v in zip(row, variance, strict=True)
    ]
    half = 0.5 * mad(known(scaled, past)) ** 2
    return [
        None if r is None or v is None else r + half * (v - 1)
        for r, v in zip(row, variance, strict=True)
    ]


def _even(row: Row, variance: Row, past: range) -> tuple[Row, list[float]]:
    weight = [0.0 if v is None else 1 / v for v in variance]
    total = sum(weight[i] for i in past)
    centre = sum(weight[i] * (row[i] or 0.0) for i in past) / total
    even = [
        None if r is None or v is None else (r - centre) / math.sqrt(v)
        for r, v in zip(row, variance, strict=True)
    ]
    return even, weight


def _winsorised(even: Row, weight: Sequence[float], at: Deployed) -> Row:
    reach = 4 * mad(known(even, range(at.before)))
    plain: Row = [
        None if u is None else u / math.sqrt(w)
        for u, w in zip(even, weight, strict=True)
    ]
    level = median(known(plain, at.after))

    def pulled(i: int, value: float) -> float:
        centre = level * math.sqrt(weight[i]) if i >= at.before else 0.0
        return min(max(value, centre - reach), centre + reach)

    return [None if u is None else pulled(i, u) for i, u in enumerate(even)]


def q_values(p_values: Sequence[float]) -> list[float]:
    """Smallest level at which Benjamini & Hochberg would reject each."""
    m = len(p_values)

    def bound(threshold: float) -> float:
        return threshold * m / sum(p <= threshold for p in p_values)

    return [
        min(1.0, *(bound(other) for other in p_values if other >= p)) for p in p_values
    ]
