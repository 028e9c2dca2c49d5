"""The wave that all queries of a server share: load, checkpoints, the time of day.

It is the median over the queries, interval by interval. Each query follows it with its
own strength, learnt before the deploy. What most queries do abruptly at the deploy is
not a wave but perhaps the deploy, so it stays in and is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model import Floats

# Intervals on each side by which an abrupt rise is told from a slow one.
_NEAR = 10
# How much more abrupt than anything before the deploy it has to be, and how large.
_MORE_ABRUPT = 1.5
_LEAST_STEP = float(np.log(1.1))
# Fewest intervals beyond those from which a later level is told.
_LEAST_LATER = 5
# Share of the rise that is still there later, if it is a step and not a start-up.
_LASTS = 0.5
# Strengths scatter around 1 with this standard deviation, before any is seen; the
# noise around the wave counts for three independent intervals per interval, since it
# may be autocorrelated.
_STRENGTH_SPREAD = 0.5
_NOISE_FACTOR = 3.0
# Variance of a median over that of a mean, normal values.
_MEDIAN_PRICE = np.pi / 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Wave:
    """The common part of the logarithms.

    Args:
        values: (t,) without the step.
        reality: share of its variance that is not the noise of a median, 0 to 1.
        step: abrupt common rise at the deploy, 0 when there is none.
    """

    values: Floats
    reality: float
    step: float


def common_wave(
    medians: Floats,
    present: NDArray[np.bool_],
    spread: Floats,
    *,
    before: int,
    after: int,
) -> Wave:
    """Find what s queries do together.

    Args:
        medians: (t,) of their logarithms in each interval.
        present: (s, t) which of them are known.
        spread: (s, 1) standard deviation of each query, above 0.
        before, after: the deploy, as in a panel.
    """
    middle = medians - np.median(medians[:before])
    step = _abrupt_step(middle, before, after)
    values = middle.copy()
    values[after:] -= step
    # Near the middle the queries' densities add up, each 1/spread.
    precision = float(np.mean(1.0 / spread)) ** 2 * present.sum(axis=0).mean()
    power = float(np.mean(values * values))
    reality = max(0.0, 1.0 - _MEDIAN_PRICE / precision / power) if power > 0 else 0.0
    return Wave(values, reality, step)


def without_wave(
    residuals: Floats,
    present: NDArray[np.bool_],
    spread: Floats,
    wave: Wave,
    *,
    before: int,
) -> tuple[Floats, Floats]:
    """Take the wave out of (s, t) *residuals*, from each query by its own strength.

    The strength is a regression on the intervals before the deploy, drawn towards
    1 where the wave is real, and towards 0 where it is noise.

    Returns:
        What is left, and (s,) the variance of the strengths: where the wave hardly
        swung before the deploy they are badly known.
    """
    known = present[:, :before]
    swing = wave.values[:before] - wave.values[:before].mean()
    prior = _NOISE_FACTOR * spread[:, 0] ** 2 / _STRENGTH_SPREAD**2
    together = (residuals[:, :before] * (known * swing)).sum(axis=1)
    alone = (known * (swing * swing)).sum(axis=1)
    strength = (together + prior * wave.reality) / (alone + prior)
    rest: Floats = np.where(present, residuals - strength[:, None] * wave.values, 0.0)
    return rest, _NOISE_FACTOR * spread[:, 0] ** 2 / (alone + prior)


def _abrupt_step(middle: Floats, before: int, after: int) -> float:
    """Rise over the deploy, if nothing before the deploy was nearly as abrupt.

    A start-up that all queries share fades and is no step. So most of the near
    intervals must have risen, not only their mean; and what most of the later ones have
    lost of that rise counts, too, once it is more than a wave may take away.
    """
    if before < 2 * _NEAR:
        return 0.0
    so_far = np.concatenate([[0.0], np.cumsum(middle[:before])])
    here = np.arange(_NEAR, before - _NEAR + 1)
    rises = so_far[here + _NEAR] - 2.0 * so_far[here] + so_far[here - _NEAR]
    usual = float(np.abs(rises).max()) / _NEAR
    level = middle[before - _NEAR : before].mean()
    near, later = middle[after : after + _NEAR], middle[after + _NEAR :]
    rise = float(np.median(near) - level)
    if later.size >= _LEAST_LATER and rise:
        lasts = float(np.median(later) - level) / rise
        if lasts < _LASTS:
            rise *= max(lasts, 0.0)
    return rise if abs(rise) > max(_MORE_ABRUPT * usual, _LEAST_STEP) else 0.0
