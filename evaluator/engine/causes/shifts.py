"""The search and the test that judge a query, on any other measure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.special import betainc

from ...model import Floats, Places, Shift
from ..stats.ar1 import inflation, phi_around_two_means
from ..stats.energy_split import best_splits, min_segment
from ..stats.welch import welch_tests


def find_shifts(measures: Sequence[tuple[Floats, Floats]]) -> list[Shift | None]:
    """Find the best split of each measure, and how likely it is by chance.

    Measures are often smoothed (PromQL's ``rate``), so neighbours resemble each other
    and a plain test would call most of them changed. The squared error grows by
    (1 + φ)/(1 − φ) and the degrees of freedom shrink by as much, φ estimated around
    the means of the two parts. In simulations without any change, p ≤ 0.001 with a
    split near the middle and a ratio of 1.2 came about in at most 1.5 % of measures
    with φ up to 0.7 (plain: 13 %), in 4 % with φ = 0.9.

    Args:
        measures: times (n,), Unix seconds, ascending, and finite values (n,) each.

    Returns:
        One for each measure, in their order; None where it is too short to be split or
        does not vary.
    """
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, (_, values) in enumerate(measures):
        if values.size >= 2 * min_segment(values.size):
            by_length[values.size].append(index)
    shifts: list[Shift | None] = [None] * len(measures)
    for members in by_length.values():
        values = np.stack([measures[index][1] for index in members])
        splits, statistics = best_splits(values)
        before, after = _levels(values, splits)
        p_values = _p_values(values, splits, before, after)
        for row, index in enumerate(members):
            if statistics[row] > 0.0:
                shifts[index] = Shift(
                    at=float(measures[index][0][splits[row]]),
                    before=float(before[row]),
                    after=float(after[row]),
                    p_value=float(p_values[row]),
                )
    return shifts


def _levels(values: Floats, splits: Places) -> tuple[Floats, Floats]:
    """(s,) means of the two parts."""
    n = values.shape[1]
    left = np.arange(n) < splits[:, None]
    before = np.where(left, values, 0.0).sum(axis=1) / splits
    return before, np.where(left, 0.0, values).sum(axis=1) / (n - splits)


def _p_values(values: Floats, splits: Places, before: Floats, after: Floats) -> Floats:
    """(s,) two-sided p-values of Welch's test with fewer effective values."""
    tests = welch_tests(values, splits)
    left = np.arange(values.shape[1]) < splits[:, None]
    rest = values - np.where(left, before[:, None], after[:, None])
    inflated = inflation(phi_around_two_means(rest, values.shape[1]))
    t_squared = tests.t**2 / inflated
    nu = np.maximum(tests.nu / inflated, 1.0)
    corrected = betainc(nu / 2.0, 0.5, nu / (nu + t_squared))
    return np.where(np.isfinite(tests.t), corrected, tests.p_nominal)
