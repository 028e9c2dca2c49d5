"""Does a change point belong to the deploy?"""

from __future__ import annotations

from ..model import ChangePoint


def near(change: ChangePoint, *, at: float, tolerance: float) -> bool:
    """True when the change lies at most *tolerance* seconds from *at*.

    Asked before the significance test, so that a strong change elsewhere in the window
    is never blamed on the deploy.
    """
    return abs(change.at - at) <= tolerance
