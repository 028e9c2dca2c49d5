"""The order of the steps that find what a rise is worth among its own noise.

logarithms → common wave out → weights → outliers in → search and gate → noise and its
dependence → start-up out → score → placebos → chance of the whole rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model import Calibration, Floats, Panel
from ..stats.energy_split import best_splits
from .autocorrelation import (
    autoregressive_inflation,
    batch_inflation,
    grown_of_late,
    lend,
    phi_before,
)
from .call_dispersion import equal_calls
from .common_factor import common_wave, without_wave
from .contrast import Stretch, Sums, normal_score, stretch_of, unskewed
from .residuals import (
    around_sides,
    level_logs,
    log_residuals,
    medians,
    robust_spread,
    weighted_mean,
    winsorised,
)
from .selection import whole_rule_p
from .transient import fades, uncertainty
from .weights import relative_variance, variance_ratio

# Fewest queries that can be compared with each other.
_FAMILY = 20
# Windows of history from which the noise is learnt before the deploy only, and the
# most of them that make the baseline.
_LONG = 3
_BASELINE = 4
# Windows before the deploy in which dependence may have grown.
_LATE = 2
# Fewest intervals before the deploy in which a common wave can be told.
_WAVE = 20
# Standard deviations beyond which an interval is an outlier.
_OUTLIER = 4.0
# By how much the spread of the calls has to fit better than their number, in twice the
# logarithm of the likelihood.
_CLEARLY = 4.0
# A spread below rounding would make every difference infinitely sure.
_LEAST_SPREAD = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class _Noise:
    """Variance of one usual interval in a long mean, its freedom, phi, spread.

    The skewness is 0 where the history is too short to tell.
    """

    variance: Floats
    freedom: Floats
    phi: Floats
    spread: Floats
    skewness: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """(s, t) relative variances, and (s, 1) how badly they fit the noise."""

    variance: Floats
    misfit: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Even:
    """(s, t) values in equal units, their weights, and the units."""

    values: Floats
    weights: Floats
    scale: Floats


def calibrate(
    panel: Panel, *, at: float, window: float, tolerance: float
) -> Calibration:
    """Find for every query the chance of its rise without any change.

    Args:
        panel: queries past the floors, with history before the window if there is any.
        at: time of the deploy, Unix seconds.
        window: length of each side, seconds.
        tolerance: how far from it a change still counts as its own, seconds.
    """
    before, after = panel.before, panel.after
    long = before >= _LONG * panel.window
    family = len(panel.keys) >= _FAMILY
    present = panel.present
    logs = log_residuals(panel.means, present, before)
    step, common, unsure = 0.0, np.zeros(_end(panel)), np.zeros(len(panel.keys))
    if family and before >= _WAVE:
        spread = robust_spread(logs[:, :before], present[:, :before])
        spread = np.maximum(spread, 1e-3)
        middle = medians(logs.T, present.T)[:, 0]
        wave = common_wave(middle, present, spread, before=before, after=after)
        logs, unsure = without_wave(logs, present, spread, wave, before=before)
        common, step = wave.values, wave.step
    by_calls = _fit(panel, panel.calls, logs, long=long)
    even = _even(panel, logs, by_calls.variance)
    splits, statistics = _search(panel, even.values, present)
    by_scatter = np.zeros(len(panel.keys), dtype=bool)
    if long and panel.scatter is not None:
        equal = equal_calls(panel.means, panel.calls, panel.scatter, present)
        by_spread = _fit(panel, equal, logs, long=long)
        better = by_spread.misfit < by_calls.misfit - _CLEARLY
        by_scatter = better[:, 0]
        variance = np.where(better, by_spread.variance, by_calls.variance)
        even = _even(panel, logs, variance)
    values, weights, scale = even.values, even.weights, even.scale
    values = _tame(values, scale, present, before, after)

    noise = _noise(values, weights, panel, long=long, family=family)
    values *= scale
    settled = after + int(panel.starts[after:].searchsorted(at + tolerance))
    passed = fades(
        values[:, after:], weights[:, after:], noise.variance, settled - after
    )
    weights = weights.copy()
    weights[passed, after:settled] = 0.0
    sums = Sums(values, weights)
    length = min(_BASELINE * panel.window, before // 2) if long else before
    old, new = slice(before - length, before), slice(after, _end(panel))
    rise, error = sums.rise(old, new)
    # What the wave did since the baseline was taken out by strengths badly known.
    swing = common[new].mean() - common[old].mean()
    doubt = noise.variance * error + unsure * swing**2
    excess = np.zeros(len(values))
    if long:
        excess = uncertainty(
            values[:, after:], weights[:, after:], noise.spread**2, noise.phi
        )
    doubt += noise.variance * excess
    score = normal_score(rise / np.sqrt(doubt), noise.freedom)
    score = unskewed(score, noise.skewness * sums.imbalance(old, new))
    stretch = _placebos(sums, noise, panel, length) if long and family else Stretch()
    score = stretch.undo(score)
    near = np.abs(splits - at) <= tolerance
    p = whole_rule_p(
        score,
        noise.phi,
        window=panel.window,
        after=_end(panel) - after,
        baseline=length,
        tolerance=tolerance / window,
    )
    _, short_error = sums.rise(slice(before - panel.window, before), new)
    return Calibration(
        keys=panel.keys,
        p_value=np.where(near & (score > 0), p, 1.0),
        score=score,
        split_at=splits,
        statistic=statistics,
        near=near,
        phi=noise.phi,
        spread=noise.spread,
        log_error=np.sqrt(noise.variance * (short_error + excess)) * stretch.base,
        history=before,
        long_history=long,
        common_rise=float(np.exp(step)),
        by_scatter=by_scatter,
        start_up=passed,
    )


def _end(panel: Panel) -> int:
    return panel.starts.size


def _fit(panel: Panel, calls: Floats, logs: Floats, *, long: bool) -> _Fit:
    """Variance of each interval by *calls*, from the intervals that show only noise."""
    present = panel.present
    end, sides = panel.before, [slice(0, panel.before)]
    if not long:
        end = _end(panel)
        sides.append(slice(panel.after, end))
    noise, known = logs[:, :end].copy(), present[:, :end].copy()
    known[:, panel.before : panel.after] = False
    for side in sides:
        noise[:, side] -= medians(logs[:, side], known[:, side])
    ratio, usual, misfit = variance_ratio(noise, calls[:, :end], known)
    return _Fit(relative_variance(calls, present, ratio, usual), misfit)


def _even(panel: Panel, logs: Floats, variance: Floats) -> _Even:
    """The logarithms around the level before the deploy, in equal units."""
    past, present = slice(0, panel.before), panel.present
    weights = present / variance
    scale = np.sqrt(variance)
    typical = robust_spread(logs[:, past] / scale[:, past], present[:, past])
    logs = level_logs(logs, variance, typical)
    centre = weighted_mean(logs[:, past], weights[:, past])
    values = logs - centre[:, None]
    values /= scale
    values *= present
    return _Even(values, weights, scale)


def _search(
    panel: Panel, even: Floats, present: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """(s,) start of the right segment at the best split, and (s,) its statistic."""
    first = panel.before - panel.window
    inside = present[:, first:]
    starts = panel.starts[first:]
    found, statistics = np.empty(len(even)), np.empty(len(even))
    counts = inside.sum(axis=1)
    for count in np.unique(counts):
        rows = np.flatnonzero(counts == count)
        known, values = inside[rows], even[rows, first:]
        if count == starts.size:
            places, statistics[rows] = best_splits(values)
        else:
            known_values = values[known].reshape(rows.size, count)
            splits, statistics[rows] = best_splits(known_values)
            # The split counts what is present; its place on the grid is further right.
            so_far = np.cumsum(known, axis=1, dtype=np.int32)
            places = (so_far > splits[:, None]).argmax(axis=1)
        found[rows] = starts[places]
    return found, statistics


def _tame(
    even: Floats, scale: Floats, present: NDArray[np.bool_], before: int, after: int
) -> Floats:
    """Pull outliers in, on each side towards its own level."""
    reach = _OUTLIER * robust_spread(even[:, :before], present[:, :before])
    # A query that hardly ever moves has a robust spread of 0; nothing is pulled then.
    reach = np.where(reach > 0, reach, np.inf)
    level = medians(even[:, after:] * scale[:, after:], present[:, after:])
    centre = np.zeros((len(even), even.shape[1]))
    np.divide(level, scale[:, after:], out=centre[:, after:])
    return winsorised(even, present, centre=centre, reach=reach)


def _noise(
    even: Floats, weights: Floats, panel: Panel, *, long: bool, family: bool
) -> _Noise:
    """From values in equal units around the level before the deploy."""
    present, before, after = panel.present, panel.before, panel.after
    if not long:
        past = around_sides(even, weights, before, after)
        count = np.maximum(present.sum(axis=1) - 2, 1)
        phi, inflation, freedom = autoregressive_inflation(past, present)
    else:
        past, known = even[:, :before], present[:, :before]
        count = np.maximum(known.sum(axis=1) - 1, 1)
        batch = max(5, round(2 * panel.window / 3))
        inflation, freedom = batch_inflation(past, known, batch)
        if family:
            inflation, freedom = lend(inflation, freedom)
        late = slice(before - _LATE * panel.window, None)
        sides = (_LATE * panel.window, after - late.start)
        phi, inflation, freedom = grown_of_late(
            around_sides(even[:, late], weights[:, late], *sides),
            present[:, late],
            phi=phi_before(past),
            inflation=inflation,
            freedom=freedom,
        )
    single = np.maximum((past * past).sum(axis=1) / count, _LEAST_SPREAD**2)
    skewness = np.zeros(len(past))
    if long:
        skewness = (past * past * past).sum(axis=1) / (count * single**1.5)
    return _Noise(single * inflation, freedom, phi, np.sqrt(single), skewness)


def _placebos(sums: Sums, noise: _Noise, panel: Panel, length: int) -> Stretch:
    """Score moments of the history at which nothing was deployed."""
    after = _end(panel) - panel.after
    scores = []
    for moment in range(length, panel.before - after + 1, max(1, after // 3)):
        old, new = slice(moment - length, moment), slice(moment, moment + after)
        rise, error = sums.rise(old, new)
        known = np.isfinite(error)
        t = rise / np.sqrt(noise.variance * np.where(known, error, 1.0))
        score = normal_score(t, noise.freedom)
        score = unskewed(score, noise.skewness * sums.imbalance(old, new))
        scores.append(np.where(known, score, np.nan))
    return stretch_of(np.stack(scores)) if scores else Stretch()
