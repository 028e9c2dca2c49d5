"""Interval means → logarithms around the query's own level, and their outliers.

Times of queries vary by factors, so the logarithm makes the noise of a slow and a fast
query alike and its tails lighter; a rise by a factor is a step of the same size.
"""

from __future__ import annotations

import numpy as np

from ...model import Flags, Floats
from ..stats.moments import TINY, medians, weighted_sum

# Smallest share of the usual time that is distinguished from nothing: times are stored
# with three decimals of a millisecond, so a fast query may show 0.
_LEAST_SHARE = 1e-3


def log_residuals(means: Floats, present: Flags, before: int) -> Floats:
    """Logarithm of each mean over the query's median before the deploy; 0 if absent.

    Args:
        means: (s, t) seconds per call.
        present: (s, t) which of them are known.
        before: number of intervals before the deploy.
    """
    level = medians(means[:, :before], present[:, :before])
    # A query whose median is 0 is measured by the resolution of the stored times.
    level = np.where(level > 0, level, 1e-6)
    residuals = means / level
    np.maximum(residuals, _LEAST_SHARE, out=residuals)
    np.log(residuals, out=residuals)
    if not present.all():
        residuals[~present] = 0.0
    return residuals


def bias_corrected(logs: Floats, variance: Floats, deviation: Floats) -> Floats:
    """Undo that the logarithm of a noisier mean is lower on average.

    E log x ≈ log E x − variance / 2, so without this a query would seem to get slower
    when its traffic rises.

    Args:
        logs: (s, t) logarithms around any level.
        variance: (s, t) relative to a typical interval.
        deviation: (s, 1) standard deviation of the logarithm of a typical interval.
    """
    half = 0.5 * deviation * deviation
    corrected: Floats = variance * half
    corrected -= half
    corrected += logs
    return corrected


def winsorise(residuals: Floats, *, centre: Floats, reach: Floats) -> None:
    """Pull what lies further than *reach* from *centre* back to there, in place.

    Args:
        residuals: (s, t).
        centre: (s, t) or (s, 1).
        reach: (s, 1).
    """
    np.clip(residuals, centre - reach, centre + reach, out=residuals)


def around_sides(
    standardised: Floats, roots: Floats, before: int, after: int
) -> Floats:
    """(s, t) standardised residuals around the level of each side; 0 where absent.

    A level in time per call is, standardised, the higher the more an interval weighs;
    were the same taken out everywhere, a rise would pass for dependence.

    Args:
        standardised: (s, t), 0 where absent.
        roots: (s, t) square roots of the weights, 0 where absent.
        before, after: the deploy, as in a panel.
    """
    noise = standardised.copy()
    for side in (slice(0, before), slice(after, None)):
        own = roots[:, side]
        level = weighted_sum(noise[:, side], own)
        level /= np.maximum(weighted_sum(own, own), TINY)
        noise[:, side] -= level[:, None] * own
    noise[:, before:after] = 0.0
    return noise
