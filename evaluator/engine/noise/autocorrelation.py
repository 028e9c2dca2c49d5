"""How much dependence between intervals inflates the variance of their mean.

Long history: batch means see any dependence shorter than a batch, with few degrees of
freedom; what the queries of one server have in common is lent to each of them. Short
history: only a first-order autoregression can be seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from ...model import Floats

# Overlapping batch means have about 1.5 · (length / batch) degrees of freedom (Meketon
# & Schmeiser 1984); fewer when the noise is far from white or normal, and 1.2 keeps
# the size at 0.001 in the benchmark.
_FREEDOM = 1.2
_LEAST_FREEDOM = 3.0
# Degrees of freedom lent at most: the queries are never exactly alike.
_MOST_LENT = 1000.0
_LARGEST_PHI = 0.95
# Standard errors above the estimate; with 2 the size at 0.001 was 0.0017 at phi 0.7.
_UPPER_END = 2.3
# Standard errors by which it must have grown, to be believed from a short stretch.
_GROWN = 3.0
# A ratio below this is an accident of few batches.
_LEAST_RATIO = 0.05
_TINY = 1e-300


def phi_before(noise: Floats) -> Floats:
    """Lag-one autocorrelation of (s, t) noise around 0, bias-corrected, (s,).

    References:
        Marriott & Pope 1954: the estimate is low by about (1 + 3 phi) / t.
    """
    products = (noise[:, 1:] * noise[:, :-1]).sum(axis=1)
    phi = products / np.maximum((noise * noise).sum(axis=1), _TINY)
    phi = phi + (1.0 + 3.0 * phi) / noise.shape[1]
    inside: Floats = np.clip(phi, -_LARGEST_PHI, _LARGEST_PHI)
    return inside


def batch_inflation(
    noise: Floats, present: NDArray[np.bool_], batch: int
) -> tuple[Floats, Floats]:
    """Variance of sums of *batch* intervals over that of independent ones.

    Args:
        noise: (s, t) around 0 in equal units, 0 where absent; t > batch.

    Returns:
        (s,) inflation, and (s,) its degrees of freedom.
    """
    t = noise.shape[1]
    so_far = np.zeros((len(noise), t + 1))
    np.cumsum(noise, axis=1, out=so_far[:, 1:])
    sums = so_far[:, batch:] - so_far[:, :-batch]
    single = np.maximum((noise * noise).mean(axis=1), _TINY)
    inflation = (sums * sums).mean(axis=1) / batch / single / (1.0 - batch / t)
    freedom = _FREEDOM * present.sum(axis=1) / batch
    return np.maximum(inflation, _LEAST_RATIO), np.maximum(freedom, _LEAST_FREEDOM)


def autoregressive_inflation(
    noise: Floats, present: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Inflation from both windows alone, as of a first-order autoregression.

    Args:
        noise: (s, t) around the mean of each side, 0 where absent.

    Returns:
        (s,) phi, (s,) inflation, (s,) its degrees of freedom by the delta method from
        the errors of phi and of the variance.
    """
    count = present.sum(axis=1)
    products = (noise[:, 1:] * noise[:, :-1]).sum(axis=1)
    phi = products / np.maximum((noise * noise).sum(axis=1), _TINY)
    # Two means are taken out, so the bias is about twice that of one.
    phi = np.clip(phi + (2.0 + 4.0 * phi) / count, 0.0, _LARGEST_PHI)
    inflation = (1.0 + phi) / (1.0 - phi)
    # Two means take more than two degrees of freedom from correlated noise.
    inflation = inflation / np.maximum(1.0 - 2.0 * inflation / count, 0.3)
    # The tail suffers where phi is taken for too small: judge it at the upper end.
    high = phi + _UPPER_END * np.sqrt((1.0 - phi**2) / count)
    high = np.minimum(high, _LARGEST_PHI)
    return phi, inflation, _autoregressive_freedom(high, count)


def _autoregressive_freedom(phi: Floats, count: NDArray[np.intp]) -> Floats:
    freedom = count * (1.0 - phi**2) / (3.0 + phi**2)
    return np.maximum(freedom, _LEAST_FREEDOM)


def grown_of_late(
    noise: Floats,
    present: NDArray[np.bool_],
    *,
    phi: Floats,
    inflation: Floats,
    freedom: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Replace what the history says where neighbours clearly correlate more by now.

    Args:
        noise: (s, t) around the mean of each side of the deploy, 0 where absent.
        phi, inflation, freedom: (s,) of the whole history.

    Returns:
        (s,) phi, inflation, and freedom.
    """
    late, more, _ = autoregressive_inflation(noise, present)
    count = present.sum(axis=1)
    grown = late > phi + _GROWN * np.sqrt((1.0 - phi * phi) / count)
    fewer = _autoregressive_freedom(late, count)
    return (
        np.where(grown, late, phi),
        np.where(grown, np.maximum(inflation, more), inflation),
        np.where(grown, np.minimum(freedom, fewer), freedom),
    )


def lend(inflation: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Draw each query's inflation towards what the family has in common.

    Args:
        inflation, freedom: (s,) of one server's queries, enough to compare.

    References:
        Smyth 2004, moderated variances: the scatter of the logarithms beyond what
        their degrees of freedom explain tells how alike the queries are.
    """
    half = freedom / 2.0
    logs = np.log(inflation) - digamma(half) + np.log(half)
    excess = float(logs.var() - polygamma(1, half).mean())
    lent = 2.0 * _inverse_trigamma(excess) if excess > 1e-3 else _MOST_LENT
    lent = min(lent, _MOST_LENT)
    common = np.exp(logs.mean() + digamma(lent / 2.0) - np.log(lent / 2.0))
    total = lent + freedom
    return (lent * common + freedom * inflation) / total, total


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
