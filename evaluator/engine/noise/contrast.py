"""Weighted mean after minus weighted mean before, at the deploy and at placebos.

A placebo is a moment of the queries' own past at which nothing was deployed. Its scores
show what the model of the noise missed: seasons, bursts, heavy tails.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr

from ...model import Floats

# Upper quantiles of the placebo scores that are compared with the normal ones, and the
# fewest scores that must lie above one for it to count.
_LEVELS = np.array([0.9, 0.95, 0.975, 0.99, 0.995, 0.9975])
_LEAST_ABOVE = 10
_LEAST_LEVELS = 3
# Differences of running sums leave rounding behind where the sum itself is 0.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Weight and weighted sum of runs of intervals, (s,) or (s, p) for s queries."""

    weight: Floats
    total: Floats

    @property
    def mean(self) -> Floats:
        """The weighted mean; 0 where the run is empty."""
        mean: Floats = self.total / np.where(self.weight > 0, self.weight, 1.0)
        return mean

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> Run:
        """All intervals of (s, t) values, as (s,)."""
        return cls(weights.sum(axis=1), np.einsum("ij,ij->i", values, weights))


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """A run after some moment against a run before it, for s queries."""

    before: Run
    after: Run

    @property
    def rise(self) -> Floats:
        """Mean after minus mean before."""
        return self.after.mean - self.before.mean

    @property
    def variance(self) -> Floats:
        """Of the rise, over that of one value; infinite where a run is empty."""
        with np.errstate(divide="ignore"):
            return 1.0 / self.after.weight + 1.0 / self.before.weight

    @property
    def skewness(self) -> Floats:
        """Of the rise, over that of one value; 0 where a run is empty.

        Independent values in two runs of equal weight cancel each other's.
        """
        known = (self.after.weight > 0) & (self.before.weight > 0)
        a, b = (
            1.0 / np.where(known, run.weight, 1.0) for run in (self.after, self.before)
        )
        return np.where(known, (a - b) / np.sqrt(a + b), 0.0)


class RunningSums:
    """Running sums of (s, t) weighted values, for the sums of any run of intervals."""

    def __init__(self, values: Floats, weights: Floats) -> None:
        shape = len(values), values.shape[1] + 1
        self._weights, self._values = np.zeros(shape), np.zeros(shape)
        np.cumsum(weights, axis=1, out=self._weights[:, 1:])
        np.cumsum(values * weights, axis=1, out=self._values[:, 1:])

    def runs(self, starts: Iterable[int], length: int) -> Run:
        """Runs of *length* intervals from each of p starts, as (s, p)."""
        first = np.fromiter(starts, dtype=np.intp)
        weight = self._weights[:, first + length] - self._weights[:, first]
        weight = np.where(weight > _ROUNDING, weight, 0.0)
        return Run(weight, self._values[:, first + length] - self._values[:, first])


def normal_score(t: Floats, dof: Floats) -> Floats:
    """The standard normal value as improbable as *t* with *dof* degrees of freedom."""
    score: Floats = -np.sign(t) * ndtri(stdtr(dof, -np.abs(t)))
    # Beyond 37 the probability underflows; the order must not be lost.
    return np.where(np.isfinite(score), score, np.sign(t) * 37.5)


def skewness_corrected(score: Floats, skewness: Floats) -> Floats:
    """The normal score at the same place of the tail of a skewed score.

    Few values with a long tail upwards have means with a longer tail than normal ones.
    Scores can only shrink: nothing is done below 0, or for a tail downwards.

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
class TailStretch:
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


def tail_stretch(placebos: Floats) -> TailStretch:
    """Compare the upper tail of pooled placebo scores with the normal one.

    Args:
        placebos: scores of all queries at all placebos, not finite where unknown.

    Returns:
        No stretch when there are too few scores to tell; never a base below 1
        without a slope, so the scores can only shrink.
    """
    known = placebos[np.isfinite(placebos)]
    levels = _LEVELS[(1.0 - _LEVELS) * known.size >= _LEAST_ABOVE]
    if levels.size < _LEAST_LEVELS:
        return TailStretch()
    normal = ndtri(levels)
    wider = np.quantile(known, levels) / normal
    slope, base = _line(normal, wider)
    if slope <= 0 or base <= 0:
        return TailStretch(base=max(1.0, float(wider[1:].max())))
    return TailStretch(base=base, slope=slope)


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Slope and intercept of the least-squares line."""
    dx = x - x.mean()
    slope = float((dx * y).sum() / (dx * dx).sum())
    return slope, float(y.mean() - slope * x.mean())
