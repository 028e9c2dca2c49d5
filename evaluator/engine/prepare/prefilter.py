"""Is the rise large enough for anyone to care?"""

from __future__ import annotations

from ...model import Comparison


def matters(comparison: Comparison, *, threshold: float) -> bool:
    """True when the mean rose by at least *threshold*, a fraction such as 0.2."""
    return comparison.factor - 1.0 >= threshold
