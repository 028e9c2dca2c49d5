"""How widely single calls spread around the time of an interval, where that is known.

Calls of one query may take alike times for an hour and very different ones in the next,
with the same mean; an interval of the first hour tells much more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...model import Floats

# Intervals on each side from which the spread of an interval is learnt.
_NEAR = 5
# Least spread, over the query's usual one, that is believed.
_LEAST = 0.01


def equal_calls(
    means: Floats, calls: Floats, scatter: Floats, present: NDArray[np.bool_]
) -> Floats:
    """Number of calls of the usual spread that would tell as much as each interval.

    The spread is that of the neighbours: an interval with a slow call has a high mean
    and a wide spread, so that by its own spread high means would weigh less.

    Args:
        means, calls: (s, t) of the intervals.
        scatter: (s, t) squared distances of the calls from the mean of their interval,
            summed; NaN where unknown.

    Returns:
        (s, t); where no neighbour's spread is known the usual one is taken, and
        without any the number of calls stays.
    """
    known = present & np.isfinite(scatter)
    sums = (
        np.where(known, scatter, 0.0),
        np.where(known, calls - 1.0, 0.0),
        np.where(known, calls * means, 0.0),
        np.where(known, calls, 0.0),
    )
    usual = _relative_variance(*(one.sum(axis=1, keepdims=True) for one in sums))
    usual = np.where(np.isfinite(usual) & (usual > 0), usual, 1.0)
    near = _relative_variance(*(_neighbours(one) for one in sums)) / usual
    near = np.where(np.isfinite(near), np.maximum(near, _LEAST), 1.0)
    return calls / near


def _relative_variance(
    scatter: Floats, freedom: Floats, seconds: Floats, calls: Floats
) -> Floats:
    """Variance of one call over the square of the mean; not finite where unknown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variance: Floats = scatter / freedom / (seconds / calls) ** 2
    return variance


def _neighbours(values: Floats) -> Floats:
    """Sums over the intervals beside each of (s, t), without its own."""
    t = values.shape[1]
    total = np.zeros_like(values)
    for lag in range(1, min(_NEAR, t - 1) + 1):
        total[:, lag:] += values[:, :-lag]
        total[:, :-lag] += values[:, lag:]
    return total
