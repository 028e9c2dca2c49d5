"""How well a rate is known from what was counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betaincinv, gammaincinv

# Tail on each side of a 95 % interval.
_TAIL = 0.025


def share_interval(hits: float, trials: float) -> tuple[float, float]:
    """95 % interval of a share, from independent trials; never too narrow.

    Args:
        hits: of *trials*; neither needs to be whole, so that dependent trials can be
            counted as the smaller number of independent ones that they are worth.

    References:
        Clopper & Pearson 1934.
    """
    low, high = 0.0, 1.0
    if hits > 0:
        low = float(betaincinv(hits, trials - hits + 1.0, _TAIL))
    if hits < trials:
        high = float(betaincinv(hits + 1.0, trials - hits, 1.0 - _TAIL))
    return low, high


def count_interval(count: float, dispersion: float = 1.0) -> tuple[float, float]:
    """95 % interval of the expected number of rare events, of which *count* came.

    Args:
        dispersion: variance of the count over that of a Poisson one; events that come
            in clusters of d are worth a d-th of their number.

    References:
        Garwood 1936.
    """
    worth = count / dispersion
    low = float(gammaincinv(worth, _TAIL)) if worth > 0 else 0.0
    high = float(gammaincinv(worth + 1.0, 1.0 - _TAIL))
    return low * dispersion, high * dispersion


def dispersion(counts: Sequence[float], least: float = 1.0) -> float:
    """Variance over mean of *counts* of equal and independent stretches.

    Args:
        least: what is not gone below, since few counts tell little.
    """
    values = np.asarray(counts, dtype=np.float64)
    if values.size < 2 or not values.any():
        return least
    return max(least, float(values.var(ddof=1) / values.mean()))
