"""Welch's t-test of the two segments that a split leaves, of many series at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from ...model import Floats, WelchTest

# Interval means are quotients of differences of counters; a spread this small against
# the mean is their rounding, not the query's.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class WelchTests:
    """The fields of s WelchTest as (s,) arrays; ``t`` and ``nu`` NaN for None."""

    t: Floats
    nu: Floats
    p_nominal: Floats
    upward: NDArray[np.bool_]

    def one_by_one(self) -> list[WelchTest]:
        """The s tests."""
        columns = (self.t, self.nu, self.p_nominal, self.upward)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [
            WelchTest(t, nu, p, upward) if t == t else WelchTest(None, None, p, upward)
            for t, nu, p, upward in rows
        ]


def welch_test(left: Floats, right: Floats) -> WelchTest:
    """Compare two segments, (n,) and (m,) seconds per call; see welch_tests.

    Raises:
        ValueError: a segment has fewer than two values.
    """
    values = np.concatenate([left, right])[None, :]
    (test,) = welch_tests(values, np.array([left.size])).one_by_one()
    return test


def welch_tests(values: Floats, splits: NDArray[np.intp]) -> WelchTests:
    """Compare means without assuming equal variances; every value counts the same.

    The p-value comes from the incomplete beta function, which keeps its relative
    precision where one minus a distribution function would round to 0. A series gets
    the same bits alone as in a crowd.

    Args:
        values: (s, n) seconds per call.
        splits: (s,) index of the first value of the right segment.

    Returns:
        Two-sided p-values, valid for splits that were fixed beforehand; without any
        variance 0 when the means differ and 1 when they do not.

    Raises:
        ValueError: a segment has fewer than two values.

    References:
        Welch 1947; degrees of freedom by Satterthwaite 1946.
    """
    n = values.shape[1]
    sizes = splits, n - splits
    if splits.size and min(sizes[0].min(), sizes[1].min()) < 2:
        raise ValueError("a variance needs at least two values in each segment")
    left = np.arange(n) < splits[:, None]
    sides = left, ~left
    means = [
        (values * side).sum(axis=1) / size
        for side, size in zip(sides, sizes, strict=True)
    ]
    squares = values - np.where(left, means[0][:, None], means[1][:, None])
    squares *= squares
    errors = []
    for side, size, mean in zip(sides, sizes, means, strict=True):
        total = (squares * side).sum(axis=1)
        total[_only_rounding(values, side, mean, total / size)] = 0.0
        errors.append(total / (size - 1) / size)
    rise = means[1] - means[0]
    error = errors[0] + errors[1]
    spread = error > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        t = rise / np.sqrt(error)
        nu = error**2 / (
            errors[0] ** 2 / (sizes[0] - 1) + errors[1] ** 2 / (sizes[1] - 1)
        )
    t[~spread] = nu[~spread] = np.nan
    p = np.where(rise == 0, 1.0, 0.0)
    p[spread] = betainc(
        nu[spread] / 2.0, 0.5, nu[spread] / (nu[spread] + t[spread] ** 2)
    )
    return WelchTests(t=t, nu=nu, p_nominal=p, upward=rise > 0)


def _only_rounding(
    values: Floats, side: NDArray[np.bool_], mean: Floats, variance: Floats
) -> NDArray[np.intp]:
    """Rows whose values on *side* differ by no more than rounding.

    Their standard deviation is at most their range, so few rows need the closer look.
    """
    limit = _ROUNDING * np.abs(mean)
    rows = np.flatnonzero(np.sqrt(variance) <= limit)
    chosen, inside = values[rows], side[rows]
    highest = np.where(inside, chosen, -np.inf).max(axis=1)
    lowest = np.where(inside, chosen, np.inf).min(axis=1)
    alike: NDArray[np.intp] = rows[highest - lowest <= limit[rows]]
    return alike
