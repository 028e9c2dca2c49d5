"""Levels and deviations of many series at once, where some values are absent."""

from __future__ import annotations

import numpy as np

from ...model import Flags, Floats

# The median absolute deviation of a normal distribution is this part of its standard
# deviation: the upper quartile of the standard normal.
NORMAL_MAD = 0.6744897501960817
# NumPy adds up a lone column in another order than one of many; with company, a series
# gets the same bits alone as in a crowd.
LEAST_SERIES = 8
# Keeps a division by a sum of weights finite where nothing has any weight.
TINY = 1e-300


def medians(values: Floats, present: Flags) -> Floats:
    """Median of each row of (s, t) over what is present, (s, 1); 0 for an empty row."""
    n = values.shape[1]
    if present.all():
        if n == 0:
            return np.zeros((len(values), 1))
        ordered = np.sort(values, axis=1)
        return (ordered[:, (n - 1) // 2, None] + ordered[:, n // 2, None]) / 2.0
    ordered = np.sort(np.where(present, values, np.inf), axis=1)
    count = np.count_nonzero(present, axis=1)
    rows = np.arange(len(values))
    low = ordered[rows, np.maximum(count - 1, 0) // 2]
    high = ordered[rows, np.minimum(count // 2, n - 1)]
    middle: Floats = np.where(count > 0, (low + high) / 2.0, 0.0)[:, None]
    return middle


def robust_deviation(residuals: Floats, present: Flags) -> Floats:
    """Standard deviation of each row around 0 by the median of |residual|, (s, 1)."""
    return medians(np.abs(residuals), present) / NORMAL_MAD


def weighted_mean(values: Floats, weights: Floats) -> Floats:
    """(s,) of (s, t) values; 0 where nothing has any weight."""
    mean: Floats = weighted_sum(values, weights)
    mean /= np.maximum(weights.sum(axis=1), TINY)
    return mean


def sum_in_order(values: Floats) -> Floats:
    """(s,) sums of (s, t) from left to right.

    A value of 0 changes no bit of them, wherever it stands: so a query has the same
    sums among others with more scrapes as alone.
    """
    # Value after value is added to all sums at once.
    total: Floats = in_columns(values).sum(axis=0)[: len(values)]
    return total


def in_columns(values: Floats) -> Floats:
    """(s, t) values as (t, s), few series beside columns of zeros."""
    s, n = values.shape
    series = np.zeros((n, max(s, LEAST_SERIES)))
    series[:, :s] = values.T
    return series


def weighted_sum(values: Floats, weights: Floats) -> Floats:
    """(s,) sums of values times weights."""
    total: Floats = np.einsum("ij,ij->i", values, weights)
    return total
