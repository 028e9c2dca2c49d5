"""What a p-value can at most say against "nothing changed"."""

from __future__ import annotations

import math


def no_change_bound(p_value: float, prior: float) -> float:
    """Smallest probability that nothing changed which agrees with *p_value*.

    Args:
        p_value: chance of as much without a change.
        prior: probability of a change before the data are seen, between 0 and 1.

    Raises:
        ValueError: *prior* is not between 0 and 1.

    References:
        Sellke, Bayarri & Berger 2001: no reasonable alternative is favoured over "no
        change" by more than 1 / (−e · p · log p), for p < 1/e.
    """
    if not 0.0 < prior < 1.0:
        raise ValueError(f"the prior must lie between 0 and 1, got {prior}")
    if p_value <= 0.0:
        return 0.0
    factor = 1.0
    if p_value < math.exp(-1.0):
        factor = -math.e * p_value * math.log(p_value)
    odds = factor * (1.0 - prior) / prior
    return odds / (1.0 + odds)
