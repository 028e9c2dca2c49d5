"""Intervals of anything that is computed from two stretches of time.

Both sides of a deploy are cut into blocks; what is wanted is computed again without
each block. Values inside a block, and of different queries, may depend on one another.

    variance = Σ over both sides of (b − 1)/b · Σ (value without a block − their mean)²

References:
    Künsch 1989, The jackknife and the bootstrap for general stationary observations.
    Satterthwaite 1946, for the degrees of freedom of the sum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from ...model import Floats

# Fewer blocks on a side say nothing of the variance.
LEAST_BLOCKS = 3
_UPPER = 0.975


def half_width(sides: Sequence[Floats]) -> Floats:
    """(k,) half the width of the 95 % intervals of k values; NaN with too few blocks.

    Args:
        sides: for each side (b, k) the values without each of its b blocks.
    """
    if min(len(side) for side in sides) < LEAST_BLOCKS:
        return np.full(sides[0].shape[1], np.nan)
    others = np.array([[len(side) - 1.0] for side in sides])
    own = others * np.stack([side.var(axis=0) for side in sides])
    variance = own.sum(axis=0)
    scale = (own * own / others).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        dof = np.where(scale > 0, variance * variance / scale, 1.0)
    width: Floats = stdtrit(dof, _UPPER) * np.sqrt(variance)
    return width
