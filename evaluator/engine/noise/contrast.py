"""Weighted mean after minus weighted mean before, at the deploy and at placebos.

A placebo is a moment of the queries' own past at which nothing was deployed. Its scores
show what the model of the noise missed: seasons, bursts, heavy tails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr

from ...model import Floats

# Upper quantiles of the placebo scores that are compared with the normal ones, and the
# fewest scores that must lie above one for it to count.
_LEVELS = np.array([0.9, 0.95, 0.975, 0.99, 0.995, 0.9975])
_LEAST_ABOVE = 10
_LEAST_LEVELS = 3


class Sums:
    """Running sums of (s, t) weighted values, for the mean of any run of intervals."""

    def __init__(self, values: Floats, weights: Floats) -> None:
        shape = len(values), values.shape[1] + 1
        self._weights, self._values = np.zeros(shape), np.zeros(shape)
        np.cumsum(weights, axis=1, out=self._weights[:, 1:])
        np.cumsum(values * weights, axis=1, out=self._values[:, 1:])

    def rise(self, before: slice, after: slice) -> tuple[Floats, Floats]:
        """(s,) mean of *after* minus mean of *before*, and its variance over the noise.

        The variance is infinite where a side is empty.
        """
        weight_a, mean_a = self._mean(after)
        weight_b, mean_b = self._mean(before)
        with np.errstate(divide="ignore"):
            return mean_a - mean_b, 1.0 / weight_a + 1.0 / weight_b

    def imbalance(self, before: slice, after: slice) -> Floats:
        """(s,) skewness of the rise over that of one value; 0 where a side is empty.

        Independent values in two runs of equal weight cancel each other's.
        """
        weight_a, weight_b = self._mean(after)[0], self._mean(before)[0]
        known = (weight_a > 0) & (weight_b > 0)
        a, b = (1.0 / np.where(known, weight, 1.0) for weight in (weight_a, weight_b))
        return np.where(known, (a - b) / np.sqrt(a + b), 0.0)

    def _mean(self, run: slice) -> tuple[Floats, Floats]:
        weight = self._weights[:, run.stop] - self._weights[:, run.start]
        # Sums of 0 leave rounding behind.
        weight = np.where(weight > 1e-9, weight, 0.0)
        total = self._values[:, run.stop] - self._values[:, run.start]
        return weight, total / np.where(weight > 0, weight, 1.0)


def normal_score(t: Floats, freedom: Floats) -> Floats:
    """The standard normal value as improbable as *t* with *freedom* degrees."""
    score: Floats = -np.sign(t) * ndtri(stdtr(freedom, -np.abs(t)))
    # Beyond 37 the probability underflows; the order must not be lost.
    return np.where(np.isfinite(score), score, np.sign(t) * 37.5)


def unskewed(score: Floats, skewness: Floats) -> Floats:
    """The normal score at the same place of the tail of a skewed score.

    Few values with a long tail upwards have means with a longer tail than normal ones.
    Scores can only lose: nothing is done below 0, or for a tail downwards.

    Args:
        score: (s,) of mean 0 and variance 1.
        skewness: (s,) of its distribution.

    References:
        Cornish & Fisher 1938, z = x + skewness · (x² − 1) / 6, solved for x.
    """
    s = np.maximum(skewness, 0.0)
    shifted = np.maximum(score, 0.0) + s / 6.0
    normal = 2.0 * shifted / (np.sqrt(1.0 + 2.0 / 3.0 * s * shifted) + 1.0)
    return np.where(score > 0, np.minimum(normal, score), score)


@dataclass(frozen=True, slots=True)
class Stretch:
    """How much wider the scores are than normal ones: base + slope · score."""

    base: float = 1.0
    slope: float = 0.0

    def undo(self, score: Floats) -> Floats:
        """The normal score at the same place of the tail, never further out."""
        size = np.abs(score)
        if self.slope > 0:
            root = np.sqrt(self.base**2 + 4.0 * self.slope * size)
            narrowed = (root - self.base) / (2.0 * self.slope)
        else:
            narrowed = size / self.base
        return np.where(score > 0, np.minimum(narrowed, size), score)


def stretch_of(placebos: Floats) -> Stretch:
    """Compare the upper tail of pooled placebo scores with the normal one.

    Args:
        placebos: scores of all queries at all placebos, not finite where unknown.

    Returns:
        No stretch when there are too few scores to tell; never a base below 1
        without a slope, so the scores can only lose.
    """
    known = placebos[np.isfinite(placebos)]
    levels = _LEVELS[(1.0 - _LEVELS) * known.size >= _LEAST_ABOVE]
    if levels.size < _LEAST_LEVELS:
        return Stretch()
    normal = ndtri(levels)
    wider = np.quantile(known, levels) / normal
    slope, base = _line(normal, wider)
    if slope <= 0 or base <= 0:
        return Stretch(base=max(1.0, float(wider[1:].max())))
    return Stretch(base=base, slope=slope)


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Slope and intercept of the least-squares line."""
    dx = x - x.mean()
    slope = float((dx * y).sum() / (dx * dx).sum())
    return slope, float(y.mean() - slope * x.mean())
