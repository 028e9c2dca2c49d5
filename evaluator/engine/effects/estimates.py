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
    chosen = list(rows)

    def total(before: int | None = None, after: int | None = None) -> float:
        change = rates.after.load(after)[chosen] - rates.before.load(before)[chosen]
        return float(change.sum())

    before = [total(before=block) for block in rates.before.filled]
    after = [total(after=block) for block in rates.after.filled]
    width = half_width([np.reshape(before, (-1, 1)), np.reshape(after, (-1, 1))])
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
