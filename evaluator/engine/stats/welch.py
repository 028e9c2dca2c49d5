"""Welch's t-test of the two segments that a split leaves, of many series at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from ...model import Flags, Floats, Places, WelchTest
from .moments import in_columns

# Interval means are quotients of differences of counters; a deviation this small
# against the mean is their rounding, not the query's.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class WelchTests:
    """The fields of s WelchTest as (s,) arrays; ``t`` and ``nu`` NaN for None."""

    t: Floats
    nu: Floats
    p_nominal: Floats
    upward: Flags

    def test(self, row: int) -> WelchTest:
        """One of the tests."""
        t, nu = float(self.t[row]), float(self.nu[row])
        p, upward = float(self.p_nominal[row]), bool(self.upward[row])
        if math.isnan(t):
            return WelchTest(None, None, p, upward)
        return WelchTest(t, nu, p, upward)


def welch_test(left: Floats, right: Floats) -> WelchTest:
    """Compare two segments, (n,) and (m,) seconds per call; see welch_tests.

    Raises:
        ValueError: a segment has fewer than two values.
    """
    values = np.concatenate([left, right])[None, :]
    return welch_tests(values, np.array([left.size])).test(0)


def welch_tests(
    values: Floats, splits: Places, present: Flags | None = None
) -> WelchTests:
    """Compare means without assuming equal variances; every value counts the same.

    The p-value comes from the incomplete beta function, which keeps its relative
    precision where one minus a distribution function would round to 0. A series gets
    the same bits alone as in a crowd.

    Args:
        values: (s, n) seconds per call.
        splits: (s,) column of the first value of the right segment.
        present: (s, n) which values are there; None: all.

    Returns:
        Two-sided p-values, valid for splits that were fixed beforehand; without any
        variance 0 when the means differ and 1 when they do not.

    Raises:
        ValueError: a segment has fewer than two values.

    References:
        Welch 1947; degrees of freedom by Satterthwaite 1946.
    """
    s, n = values.shape
    columns = in_columns(values)
    left = np.arange(n)[:, None] < splits
    if present is None:
        sides = left, ~left
        sizes = splits, n - splits
    else:
        sides = left & present.T, ~left & present.T
        sizes = tuple(np.count_nonzero(side, axis=0) for side in sides)
    if s and min(size.min() for size in sizes) < 2:
        raise ValueError("a variance needs at least two values in each segment")
    part = np.zeros_like(columns)

    def total_of(side: Flags) -> Floats:
        np.multiply(columns[:, :s], side, out=part[:, :s])
        total: Floats = part.sum(axis=0)[:s]
        return total

    means = [total_of(side) / size for side, size in zip(sides, sizes, strict=True)]
    columns[:, :s] -= np.where(left, means[0], means[1])
    columns *= columns
    errors = []
    for side, size, mean in zip(sides, sizes, means, strict=True):
        total = total_of(side)
        total[_only_rounding(values, side.T, mean, total / size)] = 0.0
        errors.append(total / (size - 1) / size)
    rise = means[1] - means[0]
    error = errors[0] + errors[1]
    varies = error > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        t = rise / np.sqrt(error)
        nu = error**2 / (
            errors[0] ** 2 / (sizes[0] - 1) + errors[1] ** 2 / (sizes[1] - 1)
        )
    t[~varies] = nu[~varies] = np.nan
    p = np.where(rise == 0, 1.0, 0.0)
    p[varies] = betainc(
        nu[varies] / 2.0, 0.5, nu[varies] / (nu[varies] + t[varies] ** 2)
    )
    return WelchTests(t=t, nu=nu, p_nominal=p, upward=rise > 0)


def _only_rounding(
    values: Floats, side: Flags, mean: Floats, variance: Floats
) -> Places:
    """Rows whose values on *side* differ by no more than rounding.

    Their standard deviation is at most their range, so few rows need the closer look.
    """
    limit = _ROUNDING * np.abs(mean)
    rows = np.flatnonzero(np.sqrt(variance) <= limit)
    chosen, inside = values[rows], side[rows]
    highest = np.where(inside, chosen, -np.inf).max(axis=1)
    lowest = np.where(inside, chosen, np.inf).min(axis=1)
    alike: Places = rows[highest - lowest <= limit[rows]]
    return alike
