"""What the minutes after a deploy are like, apart from their level.

A restart is slow at first: caches are cold, connections are made, plans are forgotten.
What fades within the tolerance is no regression. And the noise itself may swell, so
that the new level is known worse than the history says.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from ...model import Floats

# Standard errors by which the first intervals have to lie above the rest. By chance a
# fiftieth does; little is lost then, since the rest holds most of the window.
_FADES = 2.0
# Fewest intervals of a query that must be left to judge by.
_LEAST_LEFT = 4
# Chance that noise which did not swell is taken to have done so.
_SWELLS = 0.05


def fades(
    values: Floats, weights: Floats, variance: Floats, head: int
) -> NDArray[np.bool_]:
    """Whether the first *head* intervals after the deploy are a start-up that passed.

    Args:
        values, weights: (s, t) of the intervals after the deploy; weights over those of
            a usual interval, 0 where absent.
        variance: (s,) of one usual interval in a long mean.
    """
    first, rest = slice(0, head), slice(head, None)
    left = (weights[:, rest] > 0).sum(axis=1) >= _LEAST_LEFT
    known = left & (weights[:, first] > 0).any(axis=1)
    mean_first, mean_rest = (
        _mean(values[:, part], weights[:, part]) for part in (first, rest)
    )
    error = sum(
        1.0 / np.where(known, weights[:, part].sum(axis=1), 1.0)
        for part in (first, rest)
    )
    fall = mean_first - mean_rest
    found: NDArray[np.bool_] = known & (fall > _FADES * np.sqrt(variance * error))
    return found


def uncertainty(values: Floats, weights: Floats, single: Floats, phi: Floats) -> Floats:
    """What the swelling of the noise adds to 1 / weight, the error of the mean; (s,).

    Only the part of it counts that chance does not explain.

    Args:
        values, weights: (s, t) as above.
        single: (s,) variance of one usual interval.
        phi: (s,) correlation of neighbours; the closer, the worse a variance is known.
    """
    more = np.maximum((weights > 0).sum(axis=1) - 1, 1)
    distance = values - _mean(values, weights)[:, None]
    power = (weights * distance * distance).sum(axis=1) / more
    freedom = np.maximum(more * (1.0 - phi**2) / (1.0 + phi**2), 1.0)
    largest = single * chdtri(freedom, _SWELLS) / freedom
    total = weights.sum(axis=1)
    swell = np.maximum(power / largest, 1.0)
    return np.where(total > 0, (swell - 1.0) / np.where(total > 0, total, 1.0), 0.0)


def _mean(values: Floats, weights: Floats) -> Floats:
    mean: Floats = (values * weights).sum(axis=1)
    mean /= np.maximum(weights.sum(axis=1), 1e-300)
    return mean
