"""Varimax: the turn of factors in which each query follows few of them.

Factors are known up to a turn only. That with the most different squares of the
loadings in each column tells groups apart, and gives a factor members that can be
named.

References:
    Kaiser 1958, The varimax criterion for analytic rotation.
"""

from __future__ import annotations

import numpy as np

from ....model import Floats

_STEPS = 60
_SETTLED = 1e-7


def varimax(loadings: Floats) -> Floats:
    """Turn (s, r) *loadings* so that the squares in each column differ the most."""
    turn: Floats = np.eye(loadings.shape[1])
    before = 0.0
    for _ in range(_STEPS):
        turned = loadings @ turn
        slope = loadings.T @ (turned**3 - turned * np.mean(turned**2, axis=0))
        left, power, right = np.linalg.svd(slope)
        turn = np.asarray(left @ right, dtype=np.float64)
        if power.sum() < before * (1.0 + _SETTLED):
            break
        before = float(power.sum())
    return np.asarray(loadings @ turn, dtype=np.float64)
