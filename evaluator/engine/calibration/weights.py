"""How much each interval of a query can be trusted, from the calls it averages.

An interval's mean varies between intervals (load, cache) and, the fewer calls it
averages, from call to call. Which of the two rules is read from the query itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...model import Floats

# Variance from call to call over variance between intervals, at the usual number of
# calls: none, some, as much, more, nothing else.
_RATIOS = (0.0, 0.4, 2.5, 1e6)

# Queries done together: their arrays stay in the cache.
_BLOCK = 128


def variance_ratio(
    residuals: Floats, calls: Floats, present: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Find for each query the likeliest ratio of the two kinds of variance.

    Args:
        residuals: (s, t) logarithms around their level.
        calls: (s, t) executions in each interval.
        present: (s, t) which intervals are known; each query has some.

    Returns:
        (s, 1) ratios, and (s, 1) the usual number of calls, a harmonic mean.

    References:
        Profile likelihood of normal residuals with variance ∝ 1 + ratio · usual/calls.
    """
    ratio, usual = np.empty((len(calls), 1)), np.empty((len(calls), 1))
    for first in range(0, len(calls), _BLOCK):
        rows = slice(first, first + _BLOCK)
        ratio[rows, 0], usual[rows, 0] = _block(
            residuals[rows], calls[rows], present[rows]
        )
    return ratio, usual


def _block(
    residuals: Floats, calls: Floats, present: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """The same for some of the queries: (s,) ratios and (s,) usual calls."""
    count = present.sum(axis=1)
    inverse = present / np.where(present, calls, 1.0)
    usual = count / inverse.sum(axis=1)
    rarer = np.where(present, inverse * usual[:, None], 1.0)
    squares = np.where(present, residuals * residuals, 0.0)
    best = np.full(len(residuals), np.inf)
    chosen = np.zeros(len(residuals))
    for ratio in _RATIOS:
        variance = (1.0 + ratio * rarer) / (1.0 + ratio)
        scale = np.maximum((squares / variance).sum(axis=1) / count, 1e-300)
        misfit = count * np.log(scale)
        if ratio:
            misfit += np.log(variance).sum(axis=1)
        better = misfit < best - 1e-9
        best = np.where(better, misfit, best)
        chosen = np.where(better, ratio, chosen)
    return chosen, usual


def relative_variance(
    calls: Floats, present: NDArray[np.bool_], ratio: Floats, usual: Floats
) -> Floats:
    """Variance of each of (s, t) intervals over that of a usual one; 1 if absent."""
    rarer = np.where(present, usual / np.where(present, calls, 1.0), 1.0)
    variance: Floats = (1.0 + ratio * rarer) / (1.0 + ratio)
    return variance
