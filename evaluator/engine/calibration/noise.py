"""How much the intervals of a query vary, and how long their errors last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Floats, Panel
from .autocorrelation import (
    autoregressive_freedom,
    autoregressive_inflation,
    batch_inflation,
    lend,
    phi_before,
)
from .residuals import weighted_mean

# A spread below rounding would make every difference infinitely sure.
_LEAST_SPREAD = 1e-6
# Windows before the deploy, and the one after it, in which dependence may have grown;
# and by how many standard errors it must have.
_LATE = 2
_CLEARLY = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """Variance of one usual interval in a long mean, its freedom, phi, spread.

    The skewness is 0 where the history is too short to tell.
    """

    variance: Floats
    freedom: Floats
    phi: Floats
    spread: Floats
    skewness: Floats


def noise_of(
    even: Floats, weights: Floats, panel: Panel, *, long: bool, family: bool
) -> Noise:
    """Learn it before the deploy where the history is *long*, else on both sides.

    Args:
        even: (s, t) in equal units around the level before the deploy, 0 where absent.
        weights: (s, t) of the intervals, 0 where absent.
        family: whether the queries can be compared with each other.
    """
    present = panel.present
    if not long:
        past = _around_sides(even, weights, panel)
        count = np.maximum(present.sum(axis=1) - 2, 1)
        phi, inflation, freedom = autoregressive_inflation(past, present)
        single = _power(past) / count
        single = np.maximum(single, _LEAST_SPREAD**2)
        none = np.zeros(len(past))
        return Noise(single * inflation, freedom, phi, np.sqrt(single), none)
    past, known = even[:, : panel.before], present[:, : panel.before]
    count = np.maximum(known.sum(axis=1) - 1, 1)
    single = np.maximum(_power(past) / count, _LEAST_SPREAD**2)
    skewness = (past * past * past).sum(axis=1) / (count * single**1.5)
    batch = max(5, round(2 * panel.window / 3))
    inflation, freedom = batch_inflation(past, known, batch)
    if family:
        inflation, freedom = lend(inflation, freedom)
    phi = phi_before(past)
    first = panel.before - _LATE * panel.window
    late, seen = _around_sides(even, weights, panel, first=first), present[:, first:]
    late_phi, late_inflation, _ = autoregressive_inflation(late, seen)
    count = seen.sum(axis=1)
    grown = late_phi > phi + _CLEARLY * np.sqrt((1.0 - phi * phi) / count)
    late_freedom = autoregressive_freedom(late_phi, count)
    inflation = np.where(grown, np.maximum(inflation, late_inflation), inflation)
    freedom = np.where(grown, np.minimum(freedom, late_freedom), freedom)
    phi = np.where(grown, late_phi, phi)
    return Noise(single * inflation, freedom, phi, np.sqrt(single), skewness)


def _around_sides(
    even: Floats, weights: Floats, panel: Panel, *, first: int = 0
) -> Floats:
    """From *first* on, around the mean of each side of the deploy; 0 where absent."""
    noise = even[:, first:].copy()
    for side in (slice(first, panel.before), slice(panel.after, panel.starts.size)):
        mean = weighted_mean(even[:, side], weights[:, side])
        noise[:, side.start - first : side.stop - first] -= mean[:, None]
    noise *= panel.present[:, first:]
    noise[:, panel.before - first : panel.after - first] = 0.0
    return noise


def _power(noise: Floats) -> Floats:
    power: Floats = (noise * noise).sum(axis=1)
    return power
