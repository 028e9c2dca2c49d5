"""Many queries, and several looks: how small a p-value has to be."""

from __future__ import annotations

import numpy as np

from ...model import Floats

# The level that each look of the calibrated method may use when all of them together
# may use 0.05.
_LEVELS = (0.00069, 0.0051, 0.0138, 0.0245, 0.0360)
_TOTAL = 0.05


def q_values(p_values: Floats) -> Floats:
    """Smallest false discovery rate at which each of (m,) findings is kept.

    All queries past the floors take part, found or not: leaving out those that look
    quiet would make the rest look rarer than they are.

    References:
        Benjamini & Hochberg 1995; Bourgon, Gentleman & Huber 2010 on filters.
    """
    m = p_values.size
    order = np.argsort(p_values, kind="stable")
    ranked = p_values[order] * m / np.arange(1, m + 1)
    smallest = np.minimum.accumulate(ranked[::-1])[::-1]
    q = np.empty(m)
    q[order] = np.minimum(smallest, 1.0)
    return q


def spent(p_values: Floats, look: int) -> Floats:
    """P-values at one of the looks, as if it were the only one.

    A finding at 0.05 after this correction is one at the level of this look; any
    number of looks together keeps 0.05. Early looks may spend little (O'Brien &
    Fleming 1979, spending function of Lan & DeMets 1983).

    Args:
        look: index into the looks of the method.
    """
    return np.minimum(p_values * (_TOTAL / _LEVELS[look]), 1.0)
