"""The calls of each statement after the deploy against those before.

    score = (mean after − mean before) / sqrt(σ² · inflation · (1/n₁ + 1/n₀) + drift)

of the logarithms of call rates without traffic. σ² is the variance of one stretch in
the history, inflation what dependence of neighbours adds to the variance of a mean
(batch means, shrunk over the statements; with a short history a first-order
autoregression), drift what a badly known loading adds. The best split in two must fall
near the deploy, and the p-value is that of this whole rule.
"""

from __future__ import annotations

import numpy as np

from ....model import Flags, Floats, Places
from ...noise.autocorrelation import Dependence, autoregressive, batch_inflation, shrink
from ...noise.contrast import normal_score
from ...noise.selection import whole_rule_p
from ...stats.ar1 import phi_around_one_mean
from ...stats.energy_split import best_splits_of_present
from ...stats.moments import medians, robust_deviation
from .stretches import CallRates
from .traffic import LEAST_STATEMENTS, without_traffic

# Windows of history from which noise is learnt before the deploy only, and the most of
# them that make the level before.
_LONG, _BASELINE = 3, 4
# Fewest statements over which variances are shrunk.
_FAMILY = 20
# Part of a window that a batch covers, and the fewest stretches of one.
_BATCH, _LEAST_BATCH = 2.0 / 3.0, 5
# Standard deviations beyond which a stretch is an outlier, and the least deviation.
_OUTLIER, _LEAST_DEVIATION = 4.0, 1e-3
# Fewest stretches in which a split is searched.
_SEARCHED = 6
# Half the width of a 95 % interval, in standard errors.
_WIDTH = 1.96


def assess_rates(
    rates: CallRates, asked: Flags, reference: Flags, tolerance: float, window: float
) -> tuple[Floats, Floats]:
    """(s,) p-values of the whole rule, and (s,) standard errors of the log factor.

    Args:
        asked: (s,) statements whose p-values are asked for; of others they are not
            valid.
        reference: (s,) statements from which the common factor is learnt.
        tolerance, window: seconds.
    """
    own = without_traffic(rates, reference)
    before, long = rates.before, rates.before >= _LONG * rates.window
    values = _winsorised(own.values, rates.present, before)
    length = min(_BASELINE * rates.window, before // 2) if long else before
    old, new = slice(before - length, before), slice(before, None)
    single, dependence = _noise(values, rates, long=long)
    count_0, count_1 = (
        np.maximum(np.count_nonzero(rates.present[:, side], axis=1), 1)
        for side in (old, new)
    )
    rise = values[:, new].sum(axis=1) / count_1 - values[:, old].sum(axis=1) / count_0
    swing = own.traffic[new].mean() - own.traffic[old].mean()
    # Loadings differ no more than the statements rose differently, whatever the prior.
    spread = _spread(rise[reference]) ** 2
    drift = np.minimum(own.loading_variance * swing**2, spread)
    variance = single * dependence.inflation
    error = variance * (1.0 / count_0 + 1.0 / count_1) + drift
    score = normal_score(rise / np.sqrt(error), dependence.dof)
    searched = slice(max(0, before - rates.window), None)
    # Outliers as they are: an earlier rise must not pass for a later one.
    columns = _best_splits(own.values[:, searched], rates.present[:, searched], asked)
    moved = rates.starts[searched][columns] - rates.starts[before]
    p = whole_rule_p(
        score,
        dependence.phi,
        window=rates.window,
        after=rates.starts.size - before,
        baseline=length,
        tolerance=tolerance / window,
    )
    recent = np.maximum(np.count_nonzero(rates.present[:, searched], axis=1), 2)
    log_error = np.sqrt(variance * 4.0 / recent + drift)
    near = np.abs(moved) <= tolerance
    # Half of each side must have been observed.
    known = 2 * count_1 >= rates.starts.size - before
    known &= 2 * count_0 >= min(rates.window, before)
    return np.where(near & known & (score > 0), p, 1.0), log_error


def interval_of(factor: Floats, log_error: Floats) -> tuple[Floats, Floats]:
    """(s,) ends of the 95 % intervals of the factors."""
    width = np.exp(_WIDTH * log_error)
    return factor / width, factor * width


def _best_splits(values: Floats, present: Flags, asked: Flags) -> Places:
    """(s,) first column of the right segment; 0 where there is nothing to search."""
    columns = np.zeros(len(values), dtype=np.intp)
    enough = asked & (np.count_nonzero(present, axis=1) >= _SEARCHED)
    if enough.any():
        columns[enough], _ = best_splits_of_present(values[enough], present[enough])
    return columns


def _spread(rises: Floats) -> float:
    """Robust standard deviation; infinite with too few statements to tell."""
    if rises.size < LEAST_STATEMENTS:
        return np.inf
    around = (rises - np.median(rises))[None, :]
    return float(robust_deviation(around, np.ones(around.shape, dtype=bool))[0, 0])


def _winsorised(values: Floats, present: Flags, before: int) -> Floats:
    """Outliers of each side drawn back to where the noise ends."""
    deviation = robust_deviation(values[:, :before], present[:, :before])
    reach = _OUTLIER * np.maximum(deviation, _LEAST_DEVIATION)
    level = medians(values[:, before:], present[:, before:])
    drawn = values.copy()
    drawn[:, :before] = np.clip(values[:, :before], -reach, reach)
    drawn[:, before:] = np.clip(values[:, before:], level - reach, level + reach)
    return np.where(present, drawn, 0.0)


def _noise(
    values: Floats, rates: CallRates, *, long: bool
) -> tuple[Floats, Dependence]:
    """(s,) variance of one stretch, and the dependence of neighbours."""
    before, present = rates.before, rates.present
    if not long:
        noise = _around_sides(values, present, before)
        count = np.count_nonzero(present, axis=1)
        single = np.square(noise).sum(axis=1) / np.maximum(count - 2, 1)
        return _floored(single), autoregressive(noise, present)
    past = _around_mean(values[:, :before], present[:, :before])
    count = np.count_nonzero(present[:, :before], axis=1)
    squares = np.square(past).sum(axis=1)
    so_far = np.zeros((len(past), before + 1))
    np.cumsum(past, axis=1, out=so_far[:, 1:])
    batch = max(_LEAST_BATCH, round(_BATCH * rates.window))
    ratio, dof = batch_inflation(so_far, squares, count, batch)
    if len(past) >= _FAMILY:
        ratio, dof = shrink(ratio, dof)
    single = squares / np.maximum(count - 1, 1)
    return _floored(single), Dependence(phi_around_one_mean(past), ratio, dof)


def _floored(single: Floats) -> Floats:
    return np.maximum(single, _LEAST_DEVIATION**2)


def _around_mean(values: Floats, present: Flags) -> Floats:
    count = np.maximum(np.count_nonzero(present, axis=1), 1)
    mean = values.sum(axis=1) / count
    return np.where(present, values - mean[:, None], 0.0)


def _around_sides(values: Floats, present: Flags, before: int) -> Floats:
    sides = slice(0, before), slice(before, None)
    return np.concatenate(
        [_around_mean(values[:, side], present[:, side]) for side in sides], axis=1
    )
