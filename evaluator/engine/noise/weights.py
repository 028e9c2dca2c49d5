"""How much each interval of a query can be trusted, from the calls it averages.

An interval's mean varies between intervals (load, cache) and, the fewer calls it
averages, from call to call. Which of the two rules is read from the query itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...model import Floats

# Variance from call to call over variance between intervals, at the usual number of
# calls, where there is any: some, more, nothing else.
_RATIOS = (0.4, 2.5, 1e6)

# Values done together, whole queries of them: their arrays stay in the cache.
_BLOCK = 32_768

# A product of so many variances is still far from the ends of the floating-point
# range: none exceeds the number of intervals, or a million times that.
_FACTORS = 16


def variance_ratio(
    residuals: Floats, calls: Floats, present: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Find for each query the likeliest ratio of the two kinds of variance.

    Args:
        residuals: (s, t) logarithms around their level.
        calls: (s, t) executions in each interval.
        present: (s, t) which intervals are known; each query has some.

    Returns:
        (s, 1) ratios; (s, 1) the usual number of calls, a harmonic mean; and (s, 1)
        how badly that fits, minus twice the logarithm of the likelihood.

    References:
        Profile likelihood of normal residuals with variance ∝ 1 + ratio · usual/calls.
    """
    s, t = calls.shape
    ratio, usual, misfit = (np.empty((s, 1)) for _ in range(3))
    step = max(1, _BLOCK // t)
    for first in range(0, s, step):
        rows = slice(first, first + step)
        ratio[rows, 0], usual[rows, 0], misfit[rows, 0] = _block(
            residuals[rows], calls[rows], present[rows]
        )
    return ratio, usual, misfit


def _block(
    residuals: Floats, calls: Floats, present: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """The same for some of the queries, each (s,)."""
    count = present.sum(axis=1)
    rarer = 1.0 / np.where(present, calls, np.inf)
    usual = count / rarer.sum(axis=1)
    rarer *= usual[:, None]
    squares = np.where(present, residuals, 0.0)
    squares *= squares
    best = _misfit(squares.sum(axis=1), count)
    chosen = np.zeros(len(calls))
    variance = np.empty_like(rarer)
    for ratio in _RATIOS:
        # 1 + ratio times the variance; what is absent has 1 and no part in anything.
        np.multiply(rarer, ratio, out=variance)
        variance += 1.0
        misfit = _log_sums(variance)
        np.divide(squares, variance, out=variance)
        misfit += _misfit(variance.sum(axis=1), count)
        better = misfit < best - 1e-9
        best = np.where(better, misfit, best)
        chosen = np.where(better, ratio, chosen)
    return chosen, usual, best


def _misfit(power: Floats, count: NDArray[np.intp]) -> Floats:
    misfit: Floats = np.log(np.maximum(power / count, 1e-300)) * count
    return misfit


def _log_sums(factors: Floats) -> Floats:
    """(s,) sums of the logarithms of (s, t); one logarithm serves several factors."""
    firsts = np.arange(0, factors.shape[1], _FACTORS)
    logs: Floats = np.log(np.multiply.reduceat(factors, firsts, axis=1)).sum(axis=1)
    return logs


def relative_variance(
    calls: Floats, present: NDArray[np.bool_], ratio: Floats, usual: Floats
) -> Floats:
    """Variance of each of (s, t) intervals over that of a usual one; 1 if absent."""
    rarer = usual / np.where(present, calls, usual)
    variance: Floats = (1.0 + ratio * rarer) / (1.0 + ratio)
    return variance
