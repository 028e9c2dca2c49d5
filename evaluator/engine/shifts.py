"""The search and the test that judge a query, on any other measure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from ..model import Floats, Shift
from .edivisive import best_splits, min_segment
from .welch import welch_tests

# Beyond this the correlation cannot be told from a trend.
_MOST_CORRELATED = 0.95


def find_shifts(measures: Sequence[tuple[Floats, Floats]]) -> list[Shift | None]:
    """Find the best split of each measure, and what it is worth.

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
    found: list[Shift | None] = [None] * len(measures)
    for members in by_length.values():
        values = np.stack([measures[index][1] for index in members])
        splits, statistics = best_splits(values)
        p_values = _p_values(values, splits)
        for row, index in enumerate(members):
            split = int(splits[row])
            if statistics[row] > 0.0:
                found[index] = Shift(
                    at=float(measures[index][0][split]),
                    before=float(values[row, :split].mean()),
                    after=float(values[row, split:].mean()),
                    p_value=float(p_values[row]),
                )
    return found


def _p_values(values: Floats, splits: NDArray[np.intp]) -> Floats:
    """(s,) two-sided p-values of Welch's test with fewer effective values."""
    tests = welch_tests(values, splits)
    phi = _correlations(values, splits)
    inflation = (1.0 + phi) / (1.0 - phi)
    t_squared = tests.t**2 / inflation
    nu = np.maximum(tests.nu / inflation, 1.0)
    corrected = betainc(nu / 2.0, 0.5, nu / (nu + t_squared))
    return np.where(np.isfinite(tests.t), corrected, tests.p_nominal)


def _correlations(values: Floats, splits: NDArray[np.intp]) -> Floats:
    """(s,) correlation of neighbours around the means of the two parts, 0 or more.

    References:
        Kendall 1954 on the bias, (1 + 4 r)/n.
    """
    s, n = values.shape
    phi = np.zeros(s)
    for row, split in enumerate(splits):
        parts = values[row, :split], values[row, split:]
        rest = np.concatenate([part - part.mean() for part in parts])
        if (power := float(rest @ rest)) > 0.0:
            r = float(rest[1:] @ rest[:-1]) / power
            phi[row] = np.clip(r + (1.0 + 4.0 * r) / n, 0.0, _MOST_CORRELATED)
    return phi
