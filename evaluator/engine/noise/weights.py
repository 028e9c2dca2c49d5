"""How much each interval of a query can be trusted, from the calls it averages.

An interval's mean varies between intervals (load, cache) and, the fewer calls it
averages, from call to call:

    variance ∝ 1 + ratio · typical / calls

Which ratio holds is read from the query itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Flags, Floats, Places
from ..stats.moments import TINY, weighted_sum

# Variance from call to call over variance between intervals, at the typical number of
# calls, where there is any: some, more, nothing else.
_RATIOS = (0.4, 2.5, 1e6)

# A product of so many variances is still far from the ends of the floating-point
# range: none exceeds the number of intervals, or a million times that.
_FACTORS = 16


@dataclass(frozen=True, slots=True, eq=False)
class VarianceRatio:
    """What the calls are worth to s queries.

    Args:
        ratio: (s, 1) variance from call to call over variance between intervals.
        typical: (s, 1) calls of a typical interval, a harmonic mean.
        deviance: (s, 1) how badly that fits, minus twice the logarithm of the
            likelihood.
    """

    ratio: Floats
    typical: Floats
    deviance: Floats

    def relative_variance(self, calls: Floats, present: Flags) -> Floats:
        """Variance of each of (s, t) intervals over a typical one's; 1 if absent."""
        whole = present.all()
        rarer = self.typical / (
            calls if whole else np.where(present, calls, self.typical)
        )
        rarer *= self.ratio
        rarer += 1.0
        rarer /= 1.0 + self.ratio
        return rarer


def variance_ratio(residuals: Floats, calls: Floats, present: Flags) -> VarianceRatio:
    """Find for each query the likeliest ratio of the two kinds of variance.

    Args:
        residuals: (s, t) logarithms around their level.
        calls: (s, t) executions in each interval.
        present: (s, t) which intervals are known; each query has some.

    References:
        Profile likelihood of normal residuals with variance ∝ 1 + ratio · typical /
        calls.
    """
    count = np.count_nonzero(present, axis=1)
    whole = bool(count.size) and int(count.min()) == present.shape[1]
    rarer = 1.0 / (calls if whole else np.where(present, calls, np.inf))
    typical = count / rarer.sum(axis=1)
    rarer *= typical[:, None]
    squares = residuals * residuals
    if not whole:
        squares *= present
    best = _deviance(squares.sum(axis=1), count)
    chosen = np.zeros(len(calls))
    variance = np.empty_like(rarer)
    for ratio in _RATIOS:
        # 1 + ratio times the variance; what is absent has 1 and no part in anything.
        np.multiply(rarer, ratio, out=variance)
        variance += 1.0
        deviance = _log_sums(variance)
        np.reciprocal(variance, out=variance)
        deviance += _deviance(weighted_sum(squares, variance), count)
        better = deviance < best - 1e-9
        best = np.where(better, deviance, best)
        chosen = np.where(better, ratio, chosen)
    return VarianceRatio(chosen[:, None], typical[:, None], best[:, None])


def _deviance(power: Floats, count: Places) -> Floats:
    deviance: Floats = np.log(np.maximum(power / count, TINY)) * count
    return deviance


def _log_sums(factors: Floats) -> Floats:
    """(s,) sums of the logarithms of (s, t); one logarithm serves several factors."""
    firsts = np.arange(0, factors.shape[1], _FACTORS)
    logs: Floats = np.log(np.multiply.reduceat(factors, firsts, axis=1)).sum(axis=1)
    return logs
