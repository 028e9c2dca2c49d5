"""The net under all other corrections: how the scores of this very deploy lie.

Without a change, scores are standard normal, and most queries do not change. If the
bulk of them lies higher or wider at this deploy, something moved that no model of the
history knew. With the median and the quartile width of the reference queries' scores, a
score above 0 becomes

    (score − max(0, median − .15)) / max(1, width / 1.349 / 1.08)

.15 and 8 % are left to chance. Where a common jump was found, most did change, and
nothing is done: the deploy is then reported as a whole.

References:
    Efron 2004, Large-scale simultaneous hypothesis testing: the choice of a null.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ....model import Floats

# Width between the quartiles of the standard normal.
_QUARTILES = float(ndtri(0.75) - ndtri(0.25))
# What 500 dependent scores may have by chance (the prototype's values).
_MEDIAN, _WIDTH = 0.15, 1.08


@dataclass(frozen=True, slots=True)
class EmpiricalNull:
    """How far the scores lie above, and how much wider than standard normal ones."""

    shift: float = 0.0
    width: float = 1.0

    def corrected(self, score: Floats) -> Floats:
        """Scores against this null; those at or below 0 as they are."""
        smaller = np.maximum(score - self.shift, 0.0) / self.width
        return np.where(score > 0, smaller, score)


def empirical_null(score: Floats) -> EmpiricalNull:
    """Of (s,) scores of queries of which most do not change."""
    low, middle, high = np.quantile(score, (0.25, 0.5, 0.75))
    return EmpiricalNull(
        shift=max(0.0, float(middle) - _MEDIAN),
        width=max(1.0, float(high - low) / _QUARTILES / _WIDTH),
    )
