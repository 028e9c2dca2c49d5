"""Does a change point belong to the deploy?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...model import Floats


def near(changes: Floats, *, at: float, tolerance: float) -> NDArray[np.bool_]:
    """True where a change lies at most *tolerance* seconds from *at*; both Unix times.

    Asked before the significance test, so that a strong change elsewhere in the window
    is never blamed on the deploy.
    """
    found: NDArray[np.bool_] = np.abs(changes - at) <= tolerance
    return found
