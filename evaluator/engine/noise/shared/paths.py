"""Where each factor stands in every interval, also after the deploy.

In each interval t, weighted least squares of the queries' values z on their loadings L,

    F of t = (Lᵀ W L + P)⁻¹ Lᵀ W z of t

with weights 1/variance of a query's own noise, Huber's for outliers, and a weak prior P
for factors of which hardly a member is there. A query that stays out after the deploy
regresses by itself, perhaps, and has no weight there.

What is left of a query is divided by 1 − its leverage, since it drew the path towards
itself, and in the history it is what the loadings leave that did not see the interval.

References:
    Huber 1964; Hoaglin & Welsch 1978, The hat matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model import Flags, Floats, Places
from ...stats.moments import TINY, robust_deviation
from .factors import Factors

# Huber's weight begins to fall at so many deviations.
_HUBER = 2.5
# Standard errors beyond which a query stays out after the deploy; its values may
# depend on each other, so that half of them count.
_OUT, _INDEPENDENT = 4.0, 0.5
_ROUNDS = 3
# 1 / variance of a factor before anything is seen, ten of its usual deviations wide.
_PRIOR = 0.01
# Share of its own value that a query has to leave to the others.
_LEAST_REST = 0.3
# A deviation of less is a query that never varies.
_LEAST_DEVIATION = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Of r factors in t intervals.

    Args:
        values: (r, t).
        leverage: (f, t) of each query that follows a factor, on its own value.
        followers: (f,) rows of those queries.
    """

    values: Floats
    leverage: Floats
    followers: Places


def factor_paths(
    values: Floats, present: Flags, factors: Factors, *, before: int, after: int
) -> Paths:
    """Find the paths.

    Args:
        values: (s, t) standardised, outliers winsorised.
        present: (s, t) which of them there are.
        before, after: the deploy, as in a panel.
    """
    followers = np.flatnonzero(factors.members.any(axis=1))
    loadings = factors.loadings[followers] * factors.members[followers]
    z, there = values[followers], present[followers]
    r = loadings.shape[1]
    products = (loadings[:, :, None] * loadings[:, None, :]).reshape(-1, r * r)
    weights = there.astype(np.float64)
    for _ in range(_ROUNDS):
        _, paths = _solve(products, loadings, weights, z)
        residual = z - loadings @ paths
        deviation = robust_deviation(residual[:, :before], there[:, :before])
        deviation = np.maximum(deviation, _LEAST_DEVIATION)
        robust = np.minimum(
            1.0, _HUBER * deviation / np.maximum(np.abs(residual), TINY)
        )
        robust *= there
        out = _stays_out(residual[:, after:], there[:, after:], deviation[:, 0])
        robust[out, after:] = 0.0
        weights = robust / deviation**2
    inverse, paths = _solve(products, loadings, weights, z)
    leverage = products @ inverse.reshape(-1, r * r).T
    leverage *= weights
    return Paths(paths, leverage, followers)


def _solve(
    products: Floats, loadings: Floats, weights: Floats, z: Floats
) -> tuple[Floats, Floats]:
    """(t, r, r) inverse of each interval's system, and (r, t) paths."""
    r = loadings.shape[1]
    systems = (weights.T @ products).reshape(-1, r, r)
    systems[:, np.arange(r), np.arange(r)] += _PRIOR
    inverse = np.asarray(np.linalg.inv(systems), dtype=np.float64)
    wanted = (weights * z).T @ loadings
    return inverse, np.einsum("tij,tj->it", inverse, wanted)


def _stays_out(residual: Floats, present: Flags, deviation: Floats) -> Flags:
    count = np.maximum(np.count_nonzero(present, axis=1), 1)
    mean = (residual * present).sum(axis=1) / count
    out: Flags = np.abs(mean) > _OUT * deviation / np.sqrt(_INDEPENDENT * count)
    return out


def without_factors(
    values: Floats,
    scale: Floats,
    factors: Factors,
    paths: Paths,
    kept: Floats,
    block_of: Places,
) -> None:
    """Take the factors out of (s, t) *values*, in place.

    Args:
        values: logarithms; absent ones are still to be zeroed.
        scale: (s,) deviation that a loading is in units of.
        kept: (r, t) what of the paths is taken out; without jumps at the deploy.
        block_of: (t,) block of the history that an interval lies in; -1 after it.
    """
    taken = factors.loadings @ kept
    for block in range(len(factors.without)):
        here = np.flatnonzero(block_of == block)
        taken[:, here] = factors.without[block] @ kept[:, here]
    values -= scale[:, None] * taken
    values[paths.followers] /= np.maximum(1.0 - paths.leverage, _LEAST_REST)
