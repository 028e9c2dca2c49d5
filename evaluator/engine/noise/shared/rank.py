"""How many factors the queries share: bi-cross-validation over time.

The history is cut into six blocks of time. Each is left out in turn, with four points
on both sides, so that noise that lasts does not reach across; the right singular
vectors V of the rest then have to predict it. Each query is predicted by the others:
with the residual e = x − V Vᵀ x of a point x and the leverage h of i, the squared i-th
row of V,

    error of rank r = mean of (e of i / (1 − h of i))²

A query that makes a factor almost by itself (h > .7) counts as not predicted.

Noise has no vectors that predict anything, so too many factors predict worse.

References:
    Owen & Perry 2009, Bi-cross-validation of the SVD; Wold 1978 on blocks.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ....model import Floats, Places

BLOCKS = 6
# Points on both sides of a block that no estimate for it sees: 20 minutes.
GUARD = 4
# More are never taken, and none below this gain over none at all (the prototype's).
MOST = 20
_LEAST_GAIN = 0.015
# Fewer factors are as good where they leave hardly more.
_AS_GOOD = 0.004
# 1 − leverage below which the others do not predict a query.
_LEAST_REST = 0.3


def time_blocks(k: int) -> list[tuple[slice, Places]]:
    """Each block of *k* points in time order, and the points that may know of it."""
    ends = np.linspace(0, k, BLOCKS + 1).round().astype(int).tolist()
    points = np.arange(k)
    return [
        (
            slice(first, end),
            np.flatnonzero((points < first - GUARD) | (points >= end + GUARD)),
        )
        for first, end in pairwise(ends)
    ]


def right_vectors(points: Floats, most: int) -> Floats:
    """(s, r) right singular vectors of (k, s) *points*, the largest first; r ≤ most."""
    # The small side first: k is some dozens, s hundreds.
    power, left = np.linalg.eigh(points @ points.T)
    order = np.argsort(power)[::-1][:most]
    kept = order[power[order] > 1e-9 * max(float(power.max(initial=0.0)), 1e-300)]
    vectors: Floats = (points.T @ left[:, kept]) / np.sqrt(power[kept])
    return vectors


def shared_rank(points: Floats) -> int:
    """Number of factors of (k, s) *points*, each query around its mean; 0 to 20."""
    errors = np.sum([_errors(points, *block) for block in time_blocks(len(points))], 0)
    best = float(errors.min())
    if best >= (1.0 - _LEAST_GAIN) * errors[0]:
        return 0
    return int(np.argmax(errors <= best + _AS_GOOD * errors[0]))


def _errors(points: Floats, block: slice, rest: Places) -> Floats:
    """(MOST + 1,) summed squares of what each rank leaves of a block."""
    # Around the mean of the rest: around that of all, the rest would tell of the block.
    level = points[rest].mean(axis=0)
    vectors = right_vectors(points[rest] - level, MOST)
    left_out = points[block] - level
    errors = np.full(MOST + 1, np.inf)
    residual, free = left_out.copy(), np.ones(points.shape[1])
    errors[0] = np.sum(residual * residual)
    for rank in range(vectors.shape[1]):
        vector = vectors[:, rank]
        residual -= np.multiply.outer(left_out @ vector, vector)
        free -= vector * vector
        predicted = free > _LEAST_REST
        alone = np.where(predicted, residual / np.where(predicted, free, 1.0), left_out)
        errors[rank + 1] = np.sum(alone * alone)
    return errors
