"""The noise of each query by itself: weights, standardised residuals, dependence.

Only what the later steps compare between queries is kept, so that a block of queries is
worked on while it lies in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Flags, Floats, Panel, Places
from ..stats.ar1 import phi_around_one_mean
from ..stats.moments import medians, robust_deviation, weighted_mean
from .autocorrelation import Dependence, autoregressive, batch_inflation
from .call_dispersion import equivalent_calls
from .contrast import Contrast, Run, RunningSums
from .residuals import around_sides, bias_corrected, winsorise
from .scope import Scope
from .weights import VarianceRatio, variance_ratio

# Standard deviations beyond which an interval is an outlier.
_OUTLIER = 4.0
# By how much the dispersion of the calls has to fit better than their number, in
# deviance.
_CLEARLY = 4.0
# A deviation below rounding would make every difference infinitely sure.
_LEAST_DEVIATION = 1e-6
# Part of a window that a batch covers, and the fewest intervals of one.
_BATCH, _LEAST_BATCH = 2.0 / 3.0, 5


@dataclass(frozen=True, slots=True, eq=False)
class QueryNoise:
    """What is known of s queries before they are compared.

    Args:
        searched: (s, w) standardised residuals of the window on both sides.
        single: (s,) variance of one standardised residual.
        dependence: by the history, or without one by both windows.
        skewness: (s,) of one residual; 0 where the history is too short to tell.
        by_dispersion: (s,) whether the dispersion of single calls made the weights.
        values, weights: (s, b + a) logarithms around the level before the deploy,
            outliers pulled in, and their weights, from the baseline on.
        baseline, recent: what stands before the deploy.
        placebos: (s, p) contrasts at moments at which nothing was deployed.
    """

    searched: Floats
    single: Floats
    dependence: Dependence
    skewness: Floats
    by_dispersion: Flags
    values: Floats
    weights: Floats
    baseline: Run
    recent: Run
    placebos: Contrast | None


@dataclass(frozen=True, slots=True, eq=False)
class _Standardised:
    """(s, t) residuals over their deviation, weights, and (s, t) that deviation.

    All but the scale are 0 where the interval is absent.
    """

    values: Floats
    roots: Floats
    scale: Floats


def learn(panel: Panel, logs: Floats, scope: Scope) -> QueryNoise:
    """Find the noise of some of the queries of a panel.

    Args:
        panel: s queries.
        logs: (s, t) their logarithms without the common factor, 0 where absent.
    """
    present = panel.present
    fit = _fit(panel, panel.calls, logs, present, scope)
    residuals = _standardised(
        panel, logs, fit.relative_variance(panel.calls, present), present
    )
    searched = residuals.values[:, scope.searched].copy()
    by_dispersion = np.zeros(len(logs), dtype=bool)
    if scope.long and panel.dispersion is not None:
        equal = equivalent_calls(panel.means, panel.calls, panel.dispersion, present)
        other = _fit(panel, equal, logs, present, scope)
        better = other.deviance < fit.deviance - _CLEARLY
        by_dispersion = better[:, 0]
        variance = np.where(
            better,
            other.relative_variance(equal, present),
            fit.relative_variance(panel.calls, present),
        )
        residuals = _standardised(panel, logs, variance, present)
    _pull_outliers_in(residuals, present, panel.before, panel.after)
    values, roots = residuals.values, residuals.roots
    if scope.long:
        past = values[:, : panel.before]
        count = np.count_nonzero(present[:, : panel.before], axis=1)
        squares, skewness = _powers(past, count - 1)
        phi = phi_around_one_mean(past)
        ratio, dof = batch_inflation(_so_far(past), squares, count, _batch(panel))
        dependence = Dependence(phi, ratio, dof)
        single = squares / np.maximum(count - 1, 1)
    else:
        noise = around_sides(values, roots, panel.before, panel.after)
        dependence = autoregressive(noise, present)
        count = np.count_nonzero(present, axis=1)
        squares = np.einsum("ij,ij->i", noise, noise)
        single, skewness = squares / np.maximum(count - 2, 1), np.zeros(len(logs))
    values *= residuals.scale
    weights = roots * roots
    return QueryNoise(
        searched=searched,
        single=np.maximum(single, _LEAST_DEVIATION**2),
        dependence=dependence,
        skewness=skewness,
        by_dispersion=by_dispersion,
        # Without a history that is all of them, and nothing is copied.
        values=np.ascontiguousarray(values[:, scope.old.start :]),
        weights=np.ascontiguousarray(weights[:, scope.old.start :]),
        baseline=Run.of(values[:, scope.old], weights[:, scope.old]),
        recent=Run.of(values[:, scope.recent], weights[:, scope.recent]),
        placebos=_placebos(values, weights, scope),
    )


def _fit(
    panel: Panel, calls: Floats, logs: Floats, present: Flags, scope: Scope
) -> VarianceRatio:
    """Variance of each interval by *calls*, from the intervals that show only noise."""
    before, after = panel.before, panel.after
    past, future = slice(0, before), slice(after, None)
    noise = logs[:, past] - medians(logs[:, past], present[:, past])
    if scope.long:
        return variance_ratio(noise, calls[:, past], present[:, past])
    later = logs[:, future] - medians(logs[:, future], present[:, future])
    noise = np.concatenate([noise, later], axis=1)
    if before < after:  # An interval across the deploy shows more than noise.
        calls, present = (
            np.concatenate([one[:, past], one[:, future]], axis=1)
            for one in (calls, present)
        )
    return variance_ratio(noise, calls, present)


def _standardised(
    panel: Panel, logs: Floats, variance: Floats, present: Flags
) -> _Standardised:
    """The logarithms around the level before the deploy, over their deviation."""
    past = slice(0, panel.before)
    scale = np.sqrt(variance)
    typical = robust_deviation(logs[:, past] / scale[:, past], present[:, past])
    roots = 1.0 / scale
    values = bias_corrected(logs, variance, typical)
    if not present.all():
        roots *= present
    own = roots[:, past]
    values -= weighted_mean(values[:, past], own * own)[:, None]
    values *= roots
    return _Standardised(values, roots, scale)


def _pull_outliers_in(
    residuals: _Standardised, present: Flags, before: int, after: int
) -> None:
    """On each side towards its own level, in place."""
    values, scale = residuals.values, residuals.scale
    reach = _OUTLIER * robust_deviation(values[:, :before], present[:, :before])
    # A query that hardly ever moves has a robust deviation of 0: nothing is pulled.
    reach = np.where(reach > 0, reach, np.inf)
    level = medians(values[:, after:] * scale[:, after:], present[:, after:])
    winsorise(values[:, :after], centre=np.zeros((len(values), 1)), reach=reach)
    winsorise(values[:, after:], centre=level / scale[:, after:], reach=reach)
    if not present.all():
        values *= present


def _powers(past: Floats, count: Places) -> tuple[Floats, Floats]:
    """(s,) sums of squares, and (s,) skewness."""
    squares = past * past
    total = squares.sum(axis=1)
    count = np.maximum(count, 1)
    single = np.maximum(total / count, _LEAST_DEVIATION**2)
    skewness = np.einsum("ij,ij->i", squares, past) / (count * single**1.5)
    return total, skewness


def _so_far(values: Floats) -> Floats:
    """(s, t + 1) running sums."""
    sums = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def _batch(panel: Panel) -> int:
    return max(_LEAST_BATCH, round(_BATCH * panel.window))


def _placebos(values: Floats, weights: Floats, scope: Scope) -> Contrast | None:
    if not scope.placebos:
        return None
    past = slice(0, scope.old.stop)
    sums = RunningSums(values[:, past], weights[:, past])
    after: int = scope.new.stop - scope.new.start
    return Contrast(
        sums.runs((at - scope.baseline for at in scope.placebos), scope.baseline),
        sums.runs(scope.placebos, after),
    )
