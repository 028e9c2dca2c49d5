"""How much dependence between intervals inflates the variance of their mean.

Long history: batch means see any dependence shorter than a batch, with few degrees of
freedom; each query's estimate is drawn towards that of the server's queries
(shrinkage). Short history: only a first-order autoregression can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from ...model import Flags, Floats, Places
from ..stats.ar1 import LARGEST_PHI, inflation, phi_around_two_means
from ..stats.moments import TINY

# Overlapping batch means have about 1.5 · (length / batch) degrees of freedom (Meketon
# & Schmeiser 1984); fewer when the noise is far from white or normal, and 1.2 keeps
# the size at 0.001 in the benchmark.
_BATCH_DOF = 1.2
_LEAST_DOF = 3.0
# Degrees of freedom that shrinkage adds at most: queries are never exactly alike.
_MOST_SHARED = 1000.0
# Standard errors above the estimate; with 2 the size at 0.001 was 0.0017 at phi 0.7.
_UPPER_END = 2.3
# A ratio below this is an accident of few batches.
_LEAST_RATIO = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """Of s queries.

    Args:
        phi: (s,) correlation of neighbouring intervals.
        inflation: (s,) variance of a long mean over that of independent intervals.
        dof: (s,) degrees of freedom of that.
    """

    phi: Floats
    inflation: Floats
    dof: Floats


def batch_inflation(
    sums_so_far: Floats, squares: Floats, count: Places, batch: int
) -> tuple[Floats, Floats]:
    """Variance of sums of *batch* intervals over that of independent ones.

    Args:
        sums_so_far: (s, t + 1) running sums of noise around 0, standardised, 0 where
            absent; t > batch.
        squares: (s,) sums of its squares.
        count: (s,) how many intervals are there.

    Returns:
        (s,) inflation, and (s,) its degrees of freedom.
    """
    t = sums_so_far.shape[1] - 1
    sums = sums_so_far[:, batch:] - sums_so_far[:, :-batch]
    power = np.einsum("ij,ij->i", sums, sums) / sums.shape[1]
    single = np.maximum(squares / t, TINY)
    ratio = power / batch / single / (1.0 - batch / t)
    dof = _BATCH_DOF * count / batch
    return np.maximum(ratio, _LEAST_RATIO), np.maximum(dof, _LEAST_DOF)


def autoregressive(noise: Floats, present: Flags) -> Dependence:
    """Inflation from both windows alone, as of a first-order autoregression.

    The degrees of freedom follow by the delta method from the errors of phi and of the
    variance.

    Args:
        noise: (s, t) around the mean of each side, 0 where absent.
    """
    count = np.count_nonzero(present, axis=1)
    phi = phi_around_two_means(noise, count)
    inflated = inflation(phi)
    # Two means take more than two degrees of freedom from correlated noise.
    inflated /= np.maximum(1.0 - 2.0 * inflated / count, 0.3)
    # The tail suffers where phi is taken for too small: judge it at the upper end.
    high = phi + _UPPER_END * np.sqrt((1.0 - phi**2) / count)
    return Dependence(
        phi, inflated, _autoregressive_dof(np.minimum(high, LARGEST_PHI), count)
    )


def _autoregressive_dof(phi: Floats, count: Places) -> Floats:
    dof = count * (1.0 - phi**2) / (3.0 + phi**2)
    return np.maximum(dof, _LEAST_DOF)


def shrink(ratio: Floats, dof: Floats) -> tuple[Floats, Floats]:
    """Draw each query's inflation towards what the family has in common.

    Args:
        ratio, dof: (s,) of one server's queries, enough to compare.

    References:
        Smyth 2004, moderated variances: the variance of the logarithms beyond what
        their degrees of freedom explain tells how alike the queries are.
    """
    half = dof / 2.0
    logs = np.log(ratio) - digamma(half) + np.log(half)
    excess = float(logs.var() - polygamma(1, half).mean())
    shared = 2.0 * _inverse_trigamma(excess) if excess > 1e-3 else _MOST_SHARED
    shared = min(shared, _MOST_SHARED)
    common = np.exp(logs.mean() + digamma(shared / 2.0) - np.log(shared / 2.0))
    total = shared + dof
    return (shared * common + dof * ratio) / total, total


def _inverse_trigamma(value: float) -> float:
    """Solve polygamma(1, y) = value > 0 by Newton's method, from below (Smyth 2004)."""
    y = 0.5 + 1.0 / value
    for _ in range(50):
        trigamma = float(polygamma(1, y))
        change = trigamma * (1.0 - trigamma / value) / float(polygamma(2, y))
        y += change
        if -change < 1e-8 * y:
            break
    return y
