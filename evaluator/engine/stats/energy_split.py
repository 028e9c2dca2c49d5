"""The energy statistic of every split of a series in two, and the best one.

For a split after k values, with a the left and b the right segment,

    Q(k) = 2·na·nb/(na+nb) · (Dab − Daa/2 − Dbb/2)

where D is the mean absolute difference over pairs. All splits follow from two sums per
value: its distances to the values before it, and to all values. The latter follow from
the order of the values, the former are added up lag by lag. Many series of equal length
are done together, time along the first axis, so that every step is one addition over
contiguous memory and no matrix of distances is ever built.

References:
    Matteson & James 2014, A nonparametric approach for multiple change point analysis
    of multivariate data, Journal of the American Statistical Association 109.
"""

from __future__ import annotations

import numpy as np

from ...model import Flags, Floats, Places
from .moments import LEAST_SERIES

# Series done together: at 60 values each, the working arrays fit a 2 MB cache.
_BLOCK = 256


def min_segment(n: int) -> int:
    """Fewest values a segment of a series of *n* may have: a tenth, at least 3."""
    return max(3, n // 10)


def min_segments(counts: Places) -> Places:
    """The same for each of (s,) series."""
    return np.maximum(3, counts // 10)


def best_splits(values: Floats) -> tuple[Places, Floats]:
    """Find the split with the largest statistic in each of s series of equal length.

    Args:
        values: (s, n) seconds per call, in time order, n ≥ 2 · min_segment(n).

    Returns:
        (s,) index of the first value of the right segment, the smallest of equals, and
        (s,) the statistic there, in seconds per call.

    Raises:
        ValueError: the series are too short to be split.
    """
    s, n = values.shape
    if n < 2 * min_segment(n):
        raise ValueError(f"{n} values cannot be split in two of {min_segment(n)}")
    splits = np.empty(s, dtype=np.intp)
    statistics = np.empty(s)
    for first in range(0, s, _BLOCK):
        part = values[first : first + _BLOCK]
        rows = np.zeros((max(LEAST_SERIES, len(part)), n))
        # Values are taken from the first one on, which keeps what is added up small
        # and makes a constant series exactly zero.
        np.subtract(part, part[:, :1], out=rows[: len(part)])
        q = _statistics(rows, min_segment(n))
        best = q.argmax(axis=0)[: len(part)]
        splits[first : first + _BLOCK] = best + min_segment(n)
        statistics[first : first + _BLOCK] = q[best, np.arange(len(part))]
    return splits, statistics


def best_splits_of_present(values: Floats, present: Flags) -> tuple[Places, Floats]:
    """The best split of each series over the values that are present.

    Args:
        values: (s, n), in time order; each with enough of them present.
        present: (s, n).

    Returns:
        (s,) column of the first value of the right segment, and (s,) the statistic.
    """
    counts = np.count_nonzero(present, axis=1)
    columns, statistics = np.empty(len(values), dtype=np.intp), np.empty(len(values))
    for count in np.unique(counts):
        rows = np.flatnonzero(counts == count)
        if count == values.shape[1]:
            whole = values if rows.size == len(values) else values[rows]
            columns[rows], statistics[rows] = best_splits(whole)
            continue
        known = present[rows]
        kept = values[rows][known].reshape(rows.size, count)
        splits, statistics[rows] = best_splits(kept)
        # The split counts what is present; its column is further right.
        so_far = np.cumsum(known, axis=1, dtype=np.int32)
        columns[rows] = (so_far > splits[:, None]).argmax(axis=1)
    return columns, statistics


def _statistics(rows: Floats, m: int) -> Floats:
    """Q(k) for m ≤ k ≤ n − m of every row of (s, n), as (n − 2m + 1, s)."""
    n = rows.shape[1]
    within_left = np.cumsum(_to_earlier(np.ascontiguousarray(rows.T)), axis=0)
    total = within_left[-1].copy()
    within_left = within_left[m - 1 : n - m]
    from_left = np.cumsum(_to_all(rows).T, axis=0)[m - 1 : n - m]

    # across = from_left − 2 · within_left; within_right = total − within_left − across;
    # Q = 2/n · (across − within_left · nb/(na−1) − within_right · na/(nb−1)).
    na = np.arange(m, n - m + 1, dtype=np.float64)[:, None]
    nb = n - na
    q: Floats = from_left - within_left
    across_all = q - total
    across_all *= na / (nb - 1.0)
    q += across_all
    within_left *= 1.0 + nb / (na - 1.0)
    q -= within_left
    q *= 2.0 / n
    return q


def _to_earlier(x: Floats) -> Floats:
    """Sum |x_j − x_i| over i < j for every value of every column, (n, s) as they are.

    |a − b| = 2·max(a, b) − a − b, so the maxima are summed and the rest is subtracted
    once at the end.
    """
    n = len(x)
    maxima, buffer = np.zeros_like(x), np.empty_like(x)
    for lag in range(1, n):
        maxima[lag:] += np.maximum(x[lag:], x[:-lag], out=buffer[lag:])
    position = np.arange(n, dtype=np.float64)[:, None]
    so_far = np.cumsum(x, axis=0)
    to_earlier: Floats = 2.0 * maxima - (position - 1.0) * x - so_far
    return to_earlier


def _to_all(x: Floats) -> Floats:
    """Sum |x_j − x_i| over all i for every value of every row, (s, n) as they are.

    In ascending order a value with r others below it is farther from these by r times
    itself than their sum, and nearer to those above it in the same way.
    """
    n = x.shape[1]
    order = np.argsort(x, axis=1)
    ascending = np.take_along_axis(x, order, axis=1)
    up_to = np.cumsum(ascending, axis=1)
    ascending *= 2.0 * np.arange(n) + 2.0 - n
    ascending -= 2.0 * up_to
    ascending += up_to[:, -1:]
    to_all = np.empty_like(x)
    np.put_along_axis(to_all, order, ascending, axis=1)
    return to_all
