"""Factors of groups of queries, learnt from the history and cross-fitted.

    S of i at point k = sum over r of L of i, r · F of r, k + own noise

S are means over five minutes, standardised. The right singular vectors span the
factors; varimax turns them so that each query follows few. Then, three times: paths by
least squares on the sure loadings, F = (LᵀL)⁻¹ Lᵀ S, loadings by least squares on the
paths.

The loadings that did not see a block of time serve to judge that block's own noise:
those that did would call a part of it shared, and the noise would look smaller than it
is.

References:
    Chernozhukov et al. 2018, Double/debiased machine learning, on cross-fitting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model import Flags, Floats
from ...stats.moments import TINY
from .loadings import posterior, regress
from .rank import right_vectors, shared_rank
from .rotation import varimax

_ROUNDS = 3
# Fewest queries that make a factor.
LEAST_MEMBERS = 5
# Keeps a solution finite where two factors have the same members.
_RIDGE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """How s queries follow r factors.

    Args:
        loadings: (s, r) deviations of the query per unit of the factor; its unit is its
            own deviation in the history.
        without: (6, s, r) the same without each block of time and its neighbours.
        variance: (s, r) of each loading.
        members: (s, r) which queries surely follow; they make the paths.
    """

    loadings: Floats
    without: Floats
    variance: Floats
    members: Flags


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
    for _ in range(_ROUNDS):
        paths = _paths(known, loadings)
        found = regress(points, paths)
        sure = found.sure
        enough = np.count_nonzero(sure[reference], axis=0) >= LEAST_MEMBERS
        if not enough.any():
            return None
        sure, paths = sure[:, enough], paths[enough]
        loadings = (found.loadings[:, enough] * sure)[reference]
    # Most members rise with the path, not against it.
    paths *= np.where(np.sum(np.sign(loadings), axis=0) < 0, -1.0, 1.0)[:, None]
    found = regress(points, paths)
    share, left = posterior(found, sure)
    return Factors(found.loadings * share, found.without * share, left, sure)


def _paths(points: Floats, loadings: Floats) -> Floats:
    """(r, k) of each factor by least squares, with a mean square of 1."""
    gram = loadings.T @ loadings
    gram += _RIDGE * np.trace(gram) * np.eye(len(gram))
    paths = np.linalg.solve(gram, loadings.T @ points.T)
    size = np.sqrt(np.mean(paths * paths, axis=1, keepdims=True))
    return np.asarray(paths / np.maximum(size, TINY), dtype=np.float64)
