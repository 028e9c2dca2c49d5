"""The common factor of traffic, and what is left of each statement's calls without it.

    x of statement i at t = level of i + loading of i · traffic at t + its own noise

Traffic is the median over the server's statements, each around its own level before the
deploy. Most statements follow traffic in proportion, so loadings are drawn towards 1
(shrinkage). All of the factor is taken out, a jump at the deploy as well: what most
statements do together is not a flood of one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model import Flags, Floats
from ...stats.moments import medians, robust_deviation, weighted_sum
from .stretches import CallRates

# Fewest statements whose median is traffic rather than one of them.
LEAST_STATEMENTS = 10
# Loadings lie around 1 with this standard deviation; neighbours depend on one another,
# so three stretches tell as much as one independent one.
_LOADING_DEVIATION = 0.5
_DEPENDENCE = 3.0
# Statements that never change would follow the factor with infinite weight.
_LEAST_DEVIATION = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class OwnRates:
    """Calls of s statements without the common factor.

    Args:
        values: (s, t) logarithms around the level before; 0 where not present.
        loading_variance: (s,) of the loadings, where a factor was taken out.
        traffic: (t,) the factor; 0 where there is none.
    """

    values: Floats
    loading_variance: Floats
    traffic: Floats


def without_traffic(rates: CallRates, reference: Flags) -> OwnRates:
    """Take the common factor out.

    Args:
        reference: (s,) statements whose median it is.
    """
    before, present = rates.before, rates.present
    level = medians(rates.logs[:, :before], present[:, :before])
    values = np.where(present, rates.logs - level, 0.0)
    s, t = values.shape
    if np.count_nonzero(reference) < LEAST_STATEMENTS:
        return OwnRates(values, np.zeros(s), np.zeros(t))
    traffic = medians(np.ascontiguousarray(values[reference].T), present[reference].T)[
        :, 0
    ]
    moved = traffic[:before] - traffic[:before].mean()
    deviation = robust_deviation(values[:, :before], present[:, :before])[:, 0]
    noise = _DEPENDENCE * np.maximum(deviation, _LEAST_DEVIATION) ** 2
    prior = noise / _LOADING_DEVIATION**2
    together = values[:, :before] @ moved
    alone = weighted_sum(
        present[:, :before].astype(np.float64),
        np.broadcast_to(moved * moved, (s, before)),
    )
    loading = (together + prior) / (alone + prior)
    rest = np.where(present, values - loading[:, None] * traffic, 0.0)
    return OwnRates(rest, noise / (alone + prior), traffic)
