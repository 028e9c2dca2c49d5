"""What the minutes after a deploy are like, apart from their level.

A restart is slow at first: caches are cold, connections are made, plans are forgotten.
What has fallen since is a transient, and only the rest is judged. And the noise itself
may grow, so that the new level is known worse than the history says.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri

from ...model import Floats, Places
from ..stats.moments import weighted_mean, weighted_sum

# Standard errors by which the first intervals have to lie above the rest. By chance a
# fiftieth does; little is lost then, since the rest holds most of the window.
_ABOVE_THE_REST = 2.0
# Shares of the time after the deploy that may have been one, besides the tolerance,
# and the standard errors that those need.
_LONGER, _LONG_ABOVE_THE_REST = (1 / 2, 2 / 3), 3.0
# Fewest intervals of a query that must be left to judge by.
_LEAST_LEFT = 4
# Chance that noise which did not grow is taken to have done so.
_GREW = 0.05


def passed_intervals(
    values: Floats, weights: Floats, variance: Floats, head: int
) -> Places:
    """(s,) how many intervals after the deploy were a transient; 0 without one.

    Args:
        values, weights: (s, t) of the intervals after the deploy; weights over those of
            a typical interval, 0 where absent.
        variance: (s,) of one typical interval in a long mean.
        head: how many intervals begin inside the tolerance.
    """
    passed = np.zeros(len(values), dtype=np.intp)
    surest = np.zeros(len(values))
    t = values.shape[1]
    lengths = {round(share * t): _LONG_ABOVE_THE_REST for share in _LONGER}
    for length, needed in {**lengths, head: _ABOVE_THE_REST}.items():
        if length < head or t - length < _LEAST_LEFT:
            continue
        first, rest = slice(0, length), slice(length, None)
        left = np.count_nonzero(weights[:, rest] > 0, axis=1) >= _LEAST_LEFT
        weight_first, weight_rest = (
            weights[:, part].sum(axis=1) for part in (first, rest)
        )
        known = left & (weight_first > 0)
        error = 1.0 / np.where(known, weight_first, 1.0)
        error += 1.0 / np.where(known, weight_rest, 1.0)
        fall = weighted_mean(values[:, first], weights[:, first])
        fall -= weighted_mean(values[:, rest], weights[:, rest])
        errors = np.where(known, fall / np.sqrt(variance * error), 0.0)
        longer = errors > np.maximum(surest, needed)
        passed = np.where(longer, length, passed)
        surest = np.where(longer, errors, surest)
    return passed


def added_variance(
    values: Floats, weights: Floats, single: Floats, phi: Floats
) -> Floats:
    """What grown noise adds to 1 / weight, the variance of the mean; (s,).

    Only the part of it counts that chance does not explain.

    Args:
        values, weights: (s, t) as above.
        single: (s,) variance of one typical interval.
        phi: (s,) correlation of neighbours; the closer, the worse a variance is known.
    """
    more = np.maximum(np.count_nonzero(weights > 0, axis=1) - 1, 1)
    total = weights.sum(axis=1)
    distance = values - weighted_mean(values, weights)[:, None]
    distance *= distance
    power = weighted_sum(distance, weights) / more
    dof = np.maximum(more * (1.0 - phi**2) / (1.0 + phi**2), 1.0)
    largest = single * chdtri(dof, _GREW) / dof
    growth = np.maximum(power / largest, 1.0) - 1.0
    return np.where(total > 0, growth / np.where(total > 0, total, 1.0), 0.0)
