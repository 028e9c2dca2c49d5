"""Sparse factors of groups of queries, learnt from the history and cross-fitted.

    S of i at point k = sum over r of L of i, r · F of r, k + own noise

S are means over five minutes, standardised. The right singular vectors span the
factors; varimax turns them so that each query follows few. Then, three times: paths by
least squares on the loadings, F = (LᵀL)⁻¹ Lᵀ S, loadings by least squares on the paths.
A loading stays where it is more than 2.5 jackknife errors and .15 from 0; what stays is
fitted once more, in all and without each block of time.

The loadings that did not see a block serve to judge that block's own noise: those that
did would call a part of it shared, and the noise would look smaller than it is.

References:
    Kaiser 1958, The varimax criterion; Chernozhukov et al. 2018 on cross-fitting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model import Flags, Floats
from .rank import right_vectors, shared_rank, time_blocks

# Jackknife errors, and deviations of a query, that a loading has to exceed. At 2.5
# one loading in eighty of a query that does not follow is kept.
_SURE = 2.5
_LEAST_LOADING = 0.15
_ROUNDS = 3
# Fewest queries that make a factor.
LEAST_MEMBERS = 5
_VARIMAX_STEPS = 60
# Keeps a solution finite where a factor hardly moved; relative to its power.
_RIDGE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """How s queries follow r factors.

    Args:
        loadings: (s, r) deviations of the query per unit of the factor; mostly 0.
        without: (6, s, r) the same without each block of time and its neighbours.
        variance: (s, r) of a loading, by the jackknife over the blocks.
    """

    loadings: Floats
    without: Floats
    variance: Floats
    members: Flags | None = None

    @property
    def count(self) -> int:
        """r."""
        r: int = self.loadings.shape[1]
        return r


def learn_factors(points: Floats, reference: Flags) -> Factors | None:
    """Find what groups of queries share, or None where nothing is.

    Args:
        points: (k, s) means of the history over five minutes, standardised, the mean of
            each query taken out; 0 where absent.
        reference: (s,) queries that find the factors; loadings are for all.
    """
    known = points[:, reference]
    rank = shared_rank(known)
    if rank == 0:
        return None
    loadings = varimax(right_vectors(known, rank))
    paths = np.empty((loadings.shape[1], len(points)))
    keep = np.ones(loadings.shape, dtype=bool)
    for _ in range(_ROUNDS):
        paths = _unit(_paths(points[:, reference], loadings))
        every = _fit(points, paths, np.ones((points.shape[1], len(paths)), dtype=bool))
        keep = _sure(every)
        enough = np.count_nonzero(keep[reference], axis=0) >= LEAST_MEMBERS
        if not enough.any():
            return None
        keep = keep[:, enough]
        paths = paths[enough]
        loadings = (every.loadings[:, enough] * keep)[reference]
    # Most members rise with the path, not against it.
    paths *= np.where(np.sum(np.sign(loadings), axis=0) < 0, -1.0, 1.0)[:, None]
    everything = _fit(points, paths, np.ones(keep.shape, dtype=bool))
    share, left = _posterior(everything, keep)
    return Factors(everything.loadings * share, everything.without * share, left, keep)


def varimax(loadings: Floats) -> Floats:
    """Turn (s, r) *loadings* so that the squares of each column differ the most."""
    r = loadings.shape[1]
    turn: Floats = np.eye(r)
    before = 0.0
    for _ in range(_VARIMAX_STEPS):
        turned = loadings @ turn
        slope = loadings.T @ (turned**3 - turned * np.mean(turned**2, axis=0))
        left, power, right = np.linalg.svd(slope)
        turn = np.asarray(left @ right, dtype=np.float64)
        if power.sum() < before * (1.0 + 1e-7):
            break
        before = float(power.sum())
    turned_at_last: Floats = loadings @ turn
    return turned_at_last


def _paths(points: Floats, loadings: Floats) -> Floats:
    """(r, k) of each factor by least squares."""
    gram = loadings.T @ loadings
    gram += _RIDGE * np.trace(gram) * np.eye(len(gram))
    paths: Floats = np.linalg.solve(gram, loadings.T @ points.T)
    return paths


def _unit(paths: Floats) -> Floats:
    """The same with a mean square of 1 each."""
    size = np.sqrt(np.mean(paths * paths, axis=1, keepdims=True))
    scaled: Floats = paths / np.maximum(size, 1e-300)
    return scaled


def _fit(points: Floats, paths: Floats, keep: Flags) -> Factors:
    """Least squares of each query on the factors it may follow.

    Args:
        paths: (r, k).
        keep: (s, r).
    """
    every = _regress(points, paths, keep)
    without = np.stack(
        [
            _regress(points[rest], paths[:, rest], keep)
            for _, rest in time_blocks(len(points))
        ]
    )
    away = without - without.mean(axis=0)
    # Each estimate lacks a block and its guards: more than a sixth of the points.
    share = np.mean(
        [1.0 - rest.size / len(points) for _, rest in time_blocks(len(points))]
    )
    scale = (1.0 - share) / share
    variance = _smooth(scale * np.mean(away * away, axis=0))
    return Factors(every, without, variance)


def _smooth(variance: Floats) -> Floats:
    """Product of a query's and a factor's part; six blocks alone tell too little."""
    rows = variance.mean(axis=1, keepdims=True)
    columns = variance.mean(axis=0, keepdims=True)
    smooth: Floats = rows * columns / max(float(variance.mean()), 1e-300)
    return smooth


def _posterior(found: Factors, sure: Flags) -> tuple[Floats, Floats]:
    """(s, r) share of each loading that is kept, and variance that is left.

    A loading is 0 or normal around 0, as often and as wide as the sure ones are.
    """
    v = np.maximum(found.variance, 1e-12)
    often = np.clip(sure.mean(axis=0), 0.01, 0.99)
    count = np.maximum(np.count_nonzero(sure, axis=0), 1)
    wide = np.sum(np.where(sure, found.loadings**2, 0.0), axis=0) / count
    total = wide + v
    square = found.loadings**2
    odds = often / (1.0 - often) * np.sqrt(v / total)
    odds = odds * np.exp(np.minimum(0.5 * square * (1.0 / v - 1.0 / total), 500.0))
    follows = odds / (1.0 + odds)
    shrunk = wide / total
    share = follows * shrunk
    left = (
        follows * shrunk * v + follows * (1 - follows) * (shrunk * found.loadings) ** 2
    )
    return share, left


def _regress(points: Floats, paths: Floats, keep: Flags) -> Floats:
    """(s, r) loadings, 0 where not kept."""
    gram = paths @ paths.T
    together = (paths @ points).T
    loadings = np.zeros(keep.shape)
    follows = np.flatnonzero(keep.any(axis=1))
    if not follows.size:
        return loadings
    kept = keep[follows]
    if kept.all():
        gram = gram + _RIDGE * np.trace(gram) * np.eye(len(gram))
        loadings[follows] = np.linalg.solve(gram, together[follows].T).T
        return loadings
    both = kept[:, :, None] & kept[:, None, :]
    systems = np.where(both, gram, 0.0)
    systems[:, np.arange(len(gram)), np.arange(len(gram))] = np.where(
        kept, np.diag(gram) * (1.0 + _RIDGE), 1.0
    )
    wanted = np.where(kept, together[follows], 0.0)
    loadings[follows] = np.linalg.solve(systems, wanted[:, :, None])[:, :, 0]
    return loadings


def _sure(found: Factors) -> Flags:
    size = np.abs(found.loadings)
    sure: Flags = (size > _SURE * np.sqrt(found.variance)) & (size > _LEAST_LOADING)
    return sure
