"""What a p-value can at most say against "nothing changed"."""

from __future__ import annotations

import numpy as np

from ...model import Floats


def no_change_bound(p_values: Floats, prior: float) -> Floats:
    """Smallest probability that nothing changed which agrees with each p-value.

    Args:
        p_values: (m,) chances of as much without a change.
        prior: probability of a change before the data are seen, between 0 and 1.

    Returns:
        (m,) probabilities; 0 for a p-value of 0.

    Raises:
        ValueError: *prior* is not between 0 and 1.

    References:
        Sellke, Bayarri & Berger 2001: no reasonable alternative is favoured over "no
        change" by more than 1 / (−e · p · log p), for p < 1/e.
    """
    if not 0.0 < prior < 1.0:
        raise ValueError(f"the prior must lie between 0 and 1, got {prior}")
    p = np.clip(p_values, 0.0, np.exp(-1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(p > 0.0, -np.e * p * np.log(p), 0.0)
    odds = factor * (1.0 - prior) / prior
    bound: Floats = odds / (1.0 + odds)
    return bound
