"""Loads with their intervals, of several statements together as well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model import Estimate
from ..stats.jackknife import half_width
from .rates import Rates

# Rise of statements together that is still none, over their load before.
_NOTHING = 0.05


def estimate(value: float, width: float) -> Estimate:
    """A value with its interval; without one where the *width* is NaN."""
    value, width = float(value), float(width)
    if not np.isfinite(width):
        return Estimate(value)
    return Estimate(value, value - width, value + width)


def joint_change(rates: Rates, rows: Sequence[int]) -> Estimate:
    """Change of the load of some statements together."""
    before, after = rates.before.rows(rows), rates.after.rows(rows)

    def total(left: int | None = None, right: int | None = None) -> float:
        return float((after.load(right) - before.load(left)).sum())

    width = half_width(
        [
            np.reshape([total(left=block) for block in rates.before.filled], (-1, 1)),
            np.reshape([total(right=block) for block in rates.after.filled], (-1, 1)),
        ]
    )
    return estimate(total(), float(width[0]))


def did_not_rise(change: Estimate | None, before: float) -> bool:
    """Whether statements together take no more than before.

    Args:
        change: of their load; None where it is not known.
        before: their load, execution seconds per second.
    """
    if change is None or change.low is None:
        return False
    return change.low <= 0.0 and change.value <= _NOTHING * before
