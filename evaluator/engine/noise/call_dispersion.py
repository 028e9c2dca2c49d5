"""How much single calls differ around the time of an interval, where that is known.

Calls of one query may take alike times for an hour and very different ones in the next,
with the same mean; an interval of the first hour tells much more.
"""

from __future__ import annotations

import numpy as np

from ...model import Flags, Floats

# Intervals on each side from which the dispersion of an interval is learnt.
_NEAR = 5
# Least relative variance, over the query's typical one, that is believed.
_LEAST = 0.01


def equivalent_calls(
    means: Floats, calls: Floats, dispersion: Floats, present: Flags
) -> Floats:
    """Number of calls of typical dispersion that would tell as much as each interval.

    The dispersion is that of the neighbours: an interval with a slow call has a high
    mean and a wide dispersion, so that by its own, high means would weigh less.

    Args:
        means, calls: (s, t) of the intervals.
        dispersion: (s, t) squared distances of the calls from the mean of their
            interval, summed; NaN where unknown.

    Returns:
        (s, t); where no neighbour's dispersion is known the typical one is taken, and
        without any the number of calls stays.
    """
    known = present & np.isfinite(dispersion)
    sums = (
        np.where(known, dispersion, 0.0),
        np.where(known, calls - 1.0, 0.0),
        np.where(known, calls * means, 0.0),
        np.where(known, calls, 0.0),
    )
    typical = _relative_variance(*(part.sum(axis=1, keepdims=True) for part in sums))
    typical = np.where(np.isfinite(typical) & (typical > 0), typical, 1.0)
    near = _relative_variance(*map(_neighbours, sums)) / typical
    near = np.where(np.isfinite(near), np.maximum(near, _LEAST), 1.0)
    return calls / near


def _relative_variance(
    dispersion: Floats, dof: Floats, seconds: Floats, calls: Floats
) -> Floats:
    """Variance of one call over the square of the mean; not finite where unknown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        variance: Floats = dispersion / dof / (seconds / calls) ** 2
    return variance


def _neighbours(values: Floats) -> Floats:
    """Sums over the intervals beside each of (s, t), without its own."""
    t = values.shape[1]
    total = np.zeros_like(values)
    for lag in range(1, min(_NEAR, t - 1) + 1):
        total[:, lag:] += values[:, :-lag]
        total[:, :-lag] += values[:, lag:]
    return total
