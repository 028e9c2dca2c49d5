"""Slow twin of the calibrated rule: docs/statistics.md, loop by loop.

A query is a list of (mean, calls) or None, one for each interval; scatters, where they
are known, are lists of squared distances from the mean, summed, or None. Nothing is
taken from the fast functions but the table of the gate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, pvariance
from typing import TypeAlias

import numpy as np
from scipy import optimize, special, stats

from tests.reference import best_split

Query: TypeAlias = Sequence[tuple[float, float] | None]
Row: TypeAlias = list[float | None]


@dataclass
class Deployed:
    """Intervals ``[:before]`` lie before the deploy, *window* of them searched."""

    before: int
    window: int
    total: int

    @property
    def after(self) -> range:
        return range(self.before, self.total)

    @property
    def long(self) -> bool:
        return self.before >= 3 * self.window

    @property
    def baseline(self) -> int:
        return min(4 * self.window, self.before // 2) if self.long else self.before


def known(row: Row, places: Sequence[int] | range) -> list[float]:
    return [value for i in places if (value := row[i]) is not None]


def scores(
    queries: Sequence[Query], at: Deployed, scatters: Sequence[Row] | None = None
) -> tuple[list[float], list[int]]:
    """Score of each query, and the interval that begins its right segment."""
    past = range(at.before)
    family = len(queries) >= 20
    rows = [_logs(query, past) for query in queries]
    doubts = [0.0] * len(rows)
    if family and at.before >= 20:
        rows, doubts = _without_wave(rows, at)
    tamed, weights, splits = [], [], []
    for number, (query, row) in enumerate(zip(queries, rows, strict=True)):
        calls = [None if q is None else q[1] for q in query]
        variance, misfit = _variances(calls, row, at)
        even, weight = _even(_levelled(row, variance, past), variance, past)
        window = [i for i in range(at.before - at.window, at.total) if even[i]]
        split, _ = best_split([even[i] or 0.0 for i in window])
        splits.append(window[split])
        if at.long and scatters is not None:
            by_spread, better = _variances(
                _equal_calls(query, scatters[number]), row, at
            )
            if better < misfit - 4:
                variance = by_spread
                even, weight = _even(_levelled(row, variance, past), variance, past)
        flat = _winsorised(even, at)
        tamed.append(
            [
                None if u is None else u * math.sqrt(v or 1.0)
                for u, v in zip(flat, variance, strict=True)
            ]
        )
        weights.append(weight)
    noises = [
        _noise(
            [
                None if r is None else r * math.sqrt(w)
                for r, w in zip(row, weight, strict=True)
            ],
            weight,
            at,
        )
        for row, weight in zip(tamed, weights, strict=True)
    ]
    if family and at.long:
        noises = _lent(noises)
    found = [
        _score(row, weight, noise, at.before, at.before, at.total, at.baseline, doubt)
        for row, weight, noise, doubt in zip(
            tamed, weights, noises, doubts, strict=True
        )
    ]
    if family and at.long:
        found = _stretched(found, _placebos(tamed, weights, noises, at))
    return found, splits


def _logs(query: Query, past: range) -> Row:
    level = median(query[i][0] for i in past if query[i] is not None)  # type: ignore[index]
    return [None if q is None else math.log(max(q[0] / level, 1e-3)) for q in query]


def _mad(values: Sequence[float]) -> float:
    return median(map(abs, values)) / float(special.ndtri(0.75))


def _without_wave(rows: list[Row], at: Deployed) -> tuple[list[Row], list[float]]:
    past = range(at.before)
    spread = [max(_mad(known(row, past)), 1e-3) for row in rows]
    wave = []
    for i in range(at.total):
        column = [value for row in rows if (value := row[i]) is not None]
        wave.append(median(column) if column else 0.0)
    middle = median(wave[: at.before])
    wave = [value - middle for value in wave]
    step = _step(wave, at)
    wave = [value - step * (i >= at.before) for i, value in enumerate(wave)]
    present = sum(value is not None for row in rows for value in row) / at.total
    noise = math.pi / 2 / (fmean(1 / s for s in spread) ** 2 * present)
    real = max(0.0, 1 - noise / fmean(value**2 for value in wave))
    level = fmean(wave[: at.before])
    base = wave[at.before - at.baseline : at.before]
    swing = fmean(wave[at.before :]) - fmean(base)
    out, doubts = [], []
    for row, s in zip(rows, spread, strict=True):
        prior = 3 * s**2 / 0.25
        pairs = [(r, wave[i] - level) for i in past if (r := row[i]) is not None]
        alone = sum(f * f for _, f in pairs) + prior
        strength = (sum(r * f for r, f in pairs) + prior * real) / alone
        doubts.append(3 * s**2 / alone * swing**2)
        out.append(
            [None if r is None else r - strength * wave[i] for i, r in enumerate(row)]
        )
    return out, doubts


def _step(wave: Sequence[float], at: Deployed) -> float:
    def rise(here: int) -> float:
        return fmean(wave[here : here + 10]) - fmean(wave[here - 10 : here])

    usual = max(abs(rise(here)) for here in range(10, at.before - 9))
    step = rise(at.before)
    return step if abs(step) > max(1.5 * usual, math.log(1.1)) else 0.0


def _equal_calls(query: Query, scatter: Row) -> Row:
    """Calls of the usual spread that would tell as much, by the neighbours' spread."""

    def spread(places: Iterable[int]) -> float | None:
        known = [
            (s, *q)
            for i in places
            if (q := query[i]) is not None and (s := scatter[i]) is not None
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

    def misfit(ratio: float) -> float:
        of = [variance(ratio, calls) for _, calls in pairs]
        scale = fmean(r * r / v for (r, _), v in zip(pairs, of, strict=True))
        return len(pairs) * math.log(scale) + sum(map(math.log, of))

    ratio = min((0.0, 0.4, 2.5, 1e6), key=misfit)
    rows: Row = [None if c is None else variance(ratio, c) for c in counted]
    return rows, misfit(ratio)


def _levelled(row: Row, variance: Row, past: range) -> Row:
    scaled = [
        None if r is None or v is None else r / math.sqrt(v)
        for r, v in zip(row, variance, strict=True)
    ]
    half = 0.5 * _mad(known(scaled, past)) ** 2
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


def _winsorised(even: Row, at: Deployed) -> Row:
    reach = 4 * _mad(known(even, range(at.before)))
    level = median(known(even, at.after))

    def pulled(i: int, value: float) -> float:
        centre = level if i >= at.before else 0.0
        return min(max(value, centre - reach), centre + reach)

    return [None if u is None else pulled(i, u) for i, u in enumerate(even)]


@dataclass
class Noise:
    """Variance of one interval, inflation of a long mean, degrees of freedom."""

    single: float
    inflation: float
    freedom: float
    skewness: float = 0.0


def _noise(even: Row, weight: Sequence[float], at: Deployed) -> Noise:
    if at.long:
        past = [value or 0.0 for value in even[: at.before]]
        count = sum(value is not None for value in even[: at.before])
        batch = max(5, round(2 * at.window / 3))
        sums = [sum(past[i : i + batch]) for i in range(len(past) - batch + 1)]
        inflation = fmean(s * s for s in sums) / batch / fmean(u * u for u in past)
        inflation /= 1 - batch / len(past)
        single = sum(u * u for u in past) / (count - 1)
        skewness = sum(u**3 for u in past) / (count - 1) / single**1.5
        freedom = max(1.2 * count / batch, 3.0)
        return Noise(single, max(inflation, 0.05), freedom, skewness)
    both = [0.0] * at.total
    for side in (range(at.before), at.after):
        total = sum(weight[i] for i in side)
        mean = sum(weight[i] * (even[i] or 0.0) for i in side) / total
        for i in side:
            value = even[i]
            both[i] = 0.0 if value is None else value - mean
    count = sum(value is not None for value in even)
    squares = sum(u * u for u in both)
    phi = sum(u * v for u, v in pairwise(both)) / squares
    phi = min(max(phi + (2 + 4 * phi) / count, 0.0), 0.95)
    inflation = (1 + phi) / (1 - phi)
    inflation /= max(1 - 2 * inflation / count, 0.3)
    high = min(phi + 2.3 * math.sqrt((1 - phi**2) / count), 0.95)
    freedom = max(count * (1 - high**2) / (3 + high**2), 3.0)
    return Noise(squares / (count - 2), inflation, freedom)


def _lent(noises: Sequence[Noise]) -> list[Noise]:
    logs = [
        math.log(n.inflation)
        - float(special.digamma(n.freedom / 2))
        + math.log(n.freedom / 2)
        for n in noises
    ]
    excess = pvariance(logs) - fmean(
        float(special.polygamma(1, n.freedom / 2)) for n in noises
    )
    lent = 1000.0
    if excess > 1e-3:
        half = optimize.brentq(
            lambda y: float(special.polygamma(1, y)) - excess, 1e-3, 1e4, xtol=1e-12
        )
        lent = min(1000.0, 2 * half)
    common = math.exp(
        fmean(logs) + float(special.digamma(lent / 2)) - math.log(lent / 2)
    )
    return [
        Noise(
            n.single,
            (lent * common + n.freedom * n.inflation) / (lent + n.freedom),
            lent + n.freedom,
            n.skewness,
        )
        for n in noises
    ]


def _score(
    row: Row,
    weight: Sequence[float],
    noise: Noise,
    before: int,
    after: int,
    end: int,
    length: int,
    doubt: float = 0.0,
) -> float:
    def mean(run: range) -> tuple[float, float]:
        total = sum(weight[i] for i in run)
        return sum(weight[i] * (row[i] or 0.0) for i in run) / total, 1 / total

    old, error_old = mean(range(before - length, before))
    new, error_new = mean(range(after, end))
    variance = noise.single * noise.inflation * (error_old + error_new) + doubt
    t = (new - old) / math.sqrt(variance)
    tail = float(stats.t.sf(abs(t), noise.freedom))
    score = math.copysign(float(stats.norm.isf(tail)), t)
    skew = noise.skewness * (error_new - error_old) / math.sqrt(error_new + error_old)
    if score <= 0 or skew <= 0:
        return score
    normal = optimize.brentq(
        lambda x: x + skew * (x * x - 1) / 6 - score, 0.0, 2 * score + 1, xtol=1e-13
    )
    return min(normal, score)


def _placebos(
    rows: list[Row],
    weights: list[list[float]],
    noises: list[Noise],
    at: Deployed,
) -> list[float]:
    after = at.total - at.before
    moments = range(at.baseline, at.before - after + 1, max(1, after // 3))
    return [
        _score(row, weight, noise, moment, moment, moment + after, at.baseline)
        for moment in moments
        for row, weight, noise in zip(rows, weights, noises, strict=True)
    ]


def _stretched(found: list[float], placebos: list[float]) -> list[float]:
    levels = [
        level
        for level in (0.9, 0.95, 0.975, 0.99, 0.995, 0.9975)
        if (1 - level) * len(placebos) >= 10
    ]
    if len(levels) < 3:
        return found
    normal = [float(special.ndtri(level)) for level in levels]
    wider = [
        float(np.quantile(placebos, level)) / z
        for level, z in zip(levels, normal, strict=True)
    ]
    slope, base = np.polyfit(normal, wider, 1)
    if slope <= 0 or base <= 0:
        slope, base = 0.0, max(1.0, *wider[1:])

    def undone(score: float) -> float:
        narrowed = optimize.brentq(
            lambda z: z * (base + slope * z) - score, 0.0, 100.0 + score, xtol=1e-13
        )
        return min(narrowed, score)

    return [undone(score) if score > 0 else score for score in found]


def q_values(p_values: Sequence[float]) -> list[float]:
    """Smallest level at which Benjamini & Hochberg would reject each."""
    m = len(p_values)

    def bound(threshold: float) -> float:
        return threshold * m / sum(p <= threshold for p in p_values)

    return [
        min(1.0, *(bound(other) for other in p_values if other >= p)) for p in p_values
    ]
