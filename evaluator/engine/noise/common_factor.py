"""The common factor of a server's queries: load, checkpoints, the time of day.

It is the median over the queries, interval by interval; of many queries with hours of
history it is the mode (``shared/mode.py``). Each query follows it with its own loading,
learnt before the deploy:

    residual of query i at t = loading of i · factor at t + its own noise

What most queries do abruptly at the deploy is not this factor but perhaps the deploy,
so it stays in and is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Flags, Floats
from ..stats.moments import medians

# Intervals on each side by which an abrupt rise is distinguished from a slow one.
_NEAR = 10
# How much more abrupt than anything before the deploy it has to be, and how large.
_MORE_ABRUPT = 1.5
_LEAST_STEP = float(np.log(1.1))
# Fewest intervals beyond those from which a later level is read.
_LEAST_LATER = 5
# Share of the rise that is still there later, if it is a step and not a transient.
_LASTS = 0.5
# Loadings lie around 1 with this standard deviation, before any is seen; the noise
# around the factor counts for three independent intervals per interval, since it may
# be autocorrelated.
_LOADING_DEVIATION = 0.5
_NOISE_FACTOR = 3.0
# Variance of a median over that of a mean, normal values.
_MEDIAN_COST = np.pi / 2.0
# Intervals whose medians are found together, so that little is copied.
_COLUMNS = 64


@dataclass(frozen=True, slots=True, eq=False)
class CommonFactor:
    """What s queries do together.

    Args:
        values: (t,) common part of the logarithms, without the step.
        reliability: share of its variance that is not the noise of a median, 0 to 1.
        step: abrupt common rise at the deploy, 0 when there is none.
    """

    values: Floats
    reliability: float
    step: float


@dataclass(frozen=True, slots=True, eq=False)
class Loadings:
    """How strongly each of s queries follows the common factor.

    Args:
        values: (s,) loadings.
        variance: (s,) of each loading: where the factor hardly moved before the deploy
            it is badly known.
    """

    values: Floats
    variance: Floats


def column_medians(logs: Floats, calls: Floats) -> Floats:
    """(t,) median over the queries of each interval of (s, t) that has calls."""
    middle = [
        medians(
            np.ascontiguousarray(logs[:, first : first + _COLUMNS].T),
            calls[:, first : first + _COLUMNS].T > 0,
        )[:, 0]
        for first in range(0, logs.shape[1], _COLUMNS)
    ]
    return np.concatenate(middle)


def common_factor(
    middle: Floats,
    step: float,
    deviation: Floats,
    queries: float,
    *,
    after: int,
) -> CommonFactor:
    """Find what the queries do together.

    Args:
        middle: (t,) middle of their logarithms in each interval, around its level.
        step: abrupt common rise at the deploy.
        deviation: (s, 1) standard deviation of each query, above 0.
        queries: how many are there in an interval, on average.
        after: the deploy, as in a panel.
    """
    values = middle.copy()
    values[after:] -= step
    # Near the middle the queries' densities add up, each 1/deviation.
    precision = float(np.mean(1.0 / deviation)) ** 2 * queries
    power = float(np.mean(values * values))
    reliability = 0.0
    if power > 0:
        reliability = max(0.0, 1.0 - _MEDIAN_COST / precision / power)
    return CommonFactor(values, reliability, step)


def loadings(
    residuals: Floats,
    present: Flags,
    deviation: Floats,
    factor: CommonFactor,
    *,
    before: int,
) -> Loadings:
    """Regress each of (s, t) *residuals* on the factor before the deploy.

    Drawn towards 1 where the factor is real, and towards 0 where it is noise
    (shrinkage).
    """
    moved = factor.values[:before] - factor.values[:before].mean()
    prior = _NOISE_FACTOR * deviation[:, 0] ** 2 / _LOADING_DEVIATION**2
    # Absent residuals are 0. Row by row, so that a query gets the same bits alone.
    together = np.einsum("ij,j->i", residuals[:, :before], moved)
    known = present[:, :before].astype(np.float64)
    alone = np.einsum("ij,j->i", known, moved * moved)
    return Loadings(
        values=(together + prior * factor.reliability) / (alone + prior),
        variance=_NOISE_FACTOR * deviation[:, 0] ** 2 / (alone + prior),
    )


def without_factor(
    residuals: Floats, present: Flags, loading: Loadings, factor: CommonFactor
) -> Floats:
    """Take the factor out of (s, t) *residuals*; 0 where absent."""
    rest = np.multiply.outer(-loading.values, factor.values)
    rest += residuals
    if not present.all():
        rest *= present
    return rest


def abrupt_step(middle: Floats, before: int, after: int) -> float:
    """Rise over the deploy, if nothing before the deploy was nearly as abrupt.

    A transient that all queries share is not a step. So most of the near intervals must
    have risen, not only their mean; and what most of the later ones have lost of that
    rise counts, too, once it is more than a slow factor may take away.
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
