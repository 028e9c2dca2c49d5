"""Slow twin of the calibrated rule, second part: rows in equal units → scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, pvariance

import numpy as np
from scipy import optimize, special, stats

from tests.reference_rows import Deployed, Row


@dataclass
class Noise:
    """Variance of one interval, inflation of a long mean, degrees of dof, phi."""

    single: float
    inflation: float
    dof: float
    phi: float
    skewness: float = 0.0


def noise_of(even: Row, weight: Sequence[float], at: Deployed) -> Noise:
    if at.long:
        past = [value or 0.0 for value in even[: at.before]]
        count = sum(value is not None for value in even[: at.before])
        batch = max(5, round(2 * at.window / 3))
        sums = [sum(past[i : i + batch]) for i in range(len(past) - batch + 1)]
        inflation = fmean(s * s for s in sums) / batch / fmean(u * u for u in past)
        inflation /= 1 - batch / len(past)
        single = sum(u * u for u in past) / (count - 1)
        skewness = sum(u**3 for u in past) / (count - 1) / single**1.5
        dof = max(1.2 * count / batch, 3.0)
        squares = sum(u * u for u in past)
        phi = sum(u * v for u, v in pairwise(past)) / squares
        phi = min(max(phi + (1 + 3 * phi) / len(past), -0.95), 0.95)
        return Noise(single, max(inflation, 0.05), dof, phi, skewness)
    phi, inflation, squares, count = _autoregression(even, weight, at, 0)
    high = min(phi + 2.3 * math.sqrt((1 - phi**2) / count), 0.95)
    dof = _autoregressive_dof(high, count)
    return Noise(squares / (count - 2), inflation, dof, phi)


def _autoregression(
    even: Row, weight: Sequence[float], at: Deployed, first: int
) -> tuple[float, float, float, int]:
    """Phi, inflation, squares and their number, around the mean of each side."""
    both = [0.0] * at.total
    for side in (range(first, at.before), at.after):
        total = sum(weight[i] for i in side)
        level = sum(math.sqrt(weight[i]) * (even[i] or 0.0) for i in side) / total
        for i in side:
            value = even[i]
            both[i] = 0.0 if value is None else value - level * math.sqrt(weight[i])
    count = sum(value is not None for value in even[first:])
    squares = sum(u * u for u in both)
    phi = sum(u * v for u, v in pairwise(both)) / squares
    phi = min(max(phi + (2 + 4 * phi) / count, 0.0), 0.95)
    inflation = (1 + phi) / (1 - phi)
    return phi, inflation / max(1 - 2 * inflation / count, 0.3), squares, count


def _autoregressive_dof(phi: float, count: int) -> float:
    return max(count * (1 - phi**2) / (3 + phi**2), 3.0)


def shrunk(noises: Sequence[Noise]) -> list[Noise]:
    logs = [
        math.log(n.inflation) - float(special.digamma(n.dof / 2)) + math.log(n.dof / 2)
        for n in noises
    ]
    excess = pvariance(logs) - fmean(
        float(special.polygamma(1, n.dof / 2)) for n in noises
    )
    shared = 1000.0
    if excess > 1e-3:
        half = optimize.brentq(
            lambda y: float(special.polygamma(1, y)) - excess, 1e-3, 1e4, xtol=1e-12
        )
        shared = min(1000.0, 2 * half)
    common = math.exp(
        fmean(logs) + float(special.digamma(shared / 2)) - math.log(shared / 2)
    )
    return [
        replace(
            n,
            inflation=(shared * common + n.dof * n.inflation) / (shared + n.dof),
            dof=shared + n.dof,
        )
        for n in noises
    ]


def score(
    row: Row,
    weight: Sequence[float],
    noise: Noise,
    before: int,
    after: int,
    end: int,
    length: int,
    doubt: float = 0.0,
    swell: float = 1.0,
) -> float:
    def mean(run: range) -> tuple[float, float]:
        total = sum(weight[i] for i in run)
        return sum(weight[i] * (row[i] or 0.0) for i in run) / total, 1 / total

    old, error_old = mean(range(before - length, before))
    new, error_new = mean(range(after, end))
    variance = noise.single * noise.inflation * (error_old + swell * error_new) + doubt
    t = (new - old) / math.sqrt(variance)
    tail = float(stats.t.sf(abs(t), noise.dof))
    score = math.copysign(float(stats.norm.isf(tail)), t)
    skew = noise.skewness * (error_new - error_old) / math.sqrt(error_new + error_old)
    if score <= 0 or skew <= 0:
        return score
    normal = optimize.brentq(
        lambda x: x + skew * (x * x - 1) / 6 - score, 0.0, 2 * score + 1, xtol=1e-13
    )
    return min(normal, score)


def placebos(
    rows: list[Row],
    weights: list[list[float]],
    noises: list[Noise],
    at: Deployed,
) -> list[float]:
    after = at.total - at.before
    moments = range(at.baseline, at.before - after + 1, max(1, after // 3))
    return [
        score(row, weight, noise, moment, moment, moment + after, at.baseline)
        for moment in moments
        for row, weight, noise in zip(rows, weights, noises, strict=True)
    ]


def stretched(found: list[float], placebos: list[float]) -> list[float]:
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


def grown(row: Row, weight: Sequence[float], noise: Noise, at: Deployed) -> float:
    """By how much the noise after the deploy surely exceeds the usual, at least 1."""
    pairs = [(row[i] or 0.0, weight[i]) for i in at.after if weight[i] > 0]
    mean = sum(w * x for x, w in pairs) / sum(w for _, w in pairs)
    ratio = sum(w * (x - mean) ** 2 for x, w in pairs) / (len(pairs) - 1) / noise.single
    dof = (len(pairs) - 1) * (1 - noise.phi**2) / (1 + noise.phi**2)
    return max(1.0, ratio / float(stats.chi2.isf(0.05, dof)) * dof)


def settled(
    row: Row, weight: Sequence[float], noise: Noise, at: Deployed
) -> list[float]:
    """The weights without what had passed some time after the deploy."""

    def mean(run: range) -> tuple[float, float]:
        total = sum(weight[i] for i in run)
        return sum(weight[i] * (row[i] or 0.0) for i in run) / total, 1 / total

    after = at.total - at.before
    needed = {round(after / 2): 3.0, round(2 * after / 3): 3.0}
    needed[at.settled - at.before] = 2.0
    surest, passed = 0.0, 0
    for length, errors in needed.items():
        if length < at.settled - at.before or after - length < 4:
            continue
        head = range(at.before, at.before + length)
        rest = range(at.before + length, at.total)
        if not any(weight[i] for i in head) or sum(weight[i] > 0 for i in rest) < 4:
            continue
        (first, error_first), (later, error_later) = mean(head), mean(rest)
        error = noise.single * noise.inflation * (error_first + error_later)
        fall = (first - later) / math.sqrt(error)
        if fall > max(surest, errors):
            surest, passed = fall, length
    gone = range(at.before, at.before + passed)
    return [0.0 if i in gone else value for i, value in enumerate(weight)]
