"""Interval means → logarithms around the query's own level, and their outliers.

Times of queries vary by factors, so the logarithm makes the noise of a slow and a fast
query alike and its tails lighter; a rise by a factor is a step of the same size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...model import Floats

# Smallest share of the usual time that is told apart from nothing: times are stored
# with three decimals of a millisecond, so a fast query may show 0.
_LEAST_SHARE = 1e-3

# The median absolute deviation of a normal distribution is this part of its standard
# deviation.
_NORMAL_MAD = 0.6744897501960817


def medians(values: Floats, present: NDArray[np.bool_]) -> Floats:
    """Median of each row of (s, t) over what is present, (s, 1); 0 for an empty row."""
    n = values.shape[1]
    if present.all():
        ordered = np.sort(values, axis=1)
        return (ordered[:, (n - 1) // 2, None] + ordered[:, n // 2, None]) / 2.0
    ordered = np.sort(np.where(present, values, np.inf), axis=1)
    count = present.sum(axis=1)
    rows = np.arange(len(values))
    low = ordered[rows, np.maximum(count - 1, 0) // 2]
    high = ordered[rows, np.minimum(count // 2, n - 1)]
    middle: Floats = np.where(count > 0, (low + high) / 2.0, 0.0)[:, None]
    return middle


def log_residuals(means: Floats, present: NDArray[np.bool_], before: int) -> Floats:
    """Logarithm of each mean over the query's median before the deploy; 0 if absent.

    Args:
        means: (s, t) seconds per call.
        present: (s, t) which of them are known.
        before: number of intervals before the deploy.
    """
    level = medians(means[:, :before], present[:, :before])
    # A query whose median is 0 is measured by the resolution of the stored times.
    level = np.where(level > 0, level, 1e-6)
    residuals: Floats = np.where(present, means, level)
    residuals /= level
    np.maximum(residuals, _LEAST_SHARE, out=residuals)
    return np.log(residuals, out=residuals)


def robust_spread(residuals: Floats, present: NDArray[np.bool_]) -> Floats:
    """Standard deviation of each row by the median of |residual|, (s, 1)."""
    return medians(np.abs(residuals), present) / _NORMAL_MAD


def level_logs(logs: Floats, variance: Floats, spread: Floats) -> Floats:
    """Undo that the logarithm of a noisier mean is lower on average.

    E log x ≈ log E x − variance / 2, so without this a query would seem to get slower
    when its traffic rises.

    Args:
        logs: (s, t) logarithms around any level.
        variance: (s, t) relative to a usual interval.
        spread: (s, 1) standard deviation of the logarithm of a usual interval.
    """
    level: Floats = logs + 0.5 * spread * spread * (variance - 1.0)
    return level


def winsorised(
    residuals: Floats, present: NDArray[np.bool_], *, centre: Floats, reach: Floats
) -> Floats:
    """Pull what lies further than *reach* from *centre*, both (s, 1), back to there."""
    kept: Floats = np.clip(residuals, centre - reach, centre + reach)
    kept *= present
    return kept


def weighted_mean(values: Floats, weights: Floats) -> Floats:
    """(s,) of (s, t) values; 0 where nothing has any weight."""
    total = np.maximum(weights.sum(axis=1), 1e-300)
    mean: Floats = (values * weights).sum(axis=1) / total
    return mean


def around_sides(even: Floats, weights: Floats, before: int, after: int) -> Floats:
    """(s, t) values in equal units around the level of each side; 0 where absent.

    A level in time per call is, in equal units, the higher the more an interval weighs;
    were the same taken out everywhere, a rise would pass for dependence.

    Args:
        even: (s, t) values times the square roots of their *weights*.
        before, after: the deploy, as in a panel.
    """
    roots = np.sqrt(weights)
    noise: Floats = even * (weights > 0)
    for side in (slice(0, before), slice(after, None)):
        total = np.maximum(weights[:, side].sum(axis=1), 1e-300)
        level = (noise[:, side] * roots[:, side]).sum(axis=1) / total
        noise[:, side] -= level[:, None] * roots[:, side]
    noise[:, before:after] = 0.0
    return noise
