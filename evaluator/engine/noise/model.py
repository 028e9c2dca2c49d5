"""What each rise is worth among its own noise: the order of the steps.

logarithms → common factor out → for each query (``query_noise``) weights, standardised
residuals, outliers, dependence → shrinkage over the family → transients out → score →
placebos → p-value of the whole rule, given where the split fell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Assessment, Flags, Floats, Panel
from ..stats.blocks import blocks, concatenated
from ..stats.energy_split import best_splits_of_present
from ..stats.moments import robust_deviation
from ..stats.nearness import ends_before, hides_changes, near
from .autocorrelation import Dependence, grown_of_late, shrink
from .common_factor import (
    CommonFactor,
    Loadings,
    column_medians,
    common_factor,
    loadings,
    without_factor,
)
from .contrast import (
    Contrast,
    Run,
    TailStretch,
    normal_score,
    skewness_corrected,
    tail_stretch,
)
from .query_noise import QueryNoise, learn
from .residuals import log_residuals
from .scope import Scope, scope_of
from .selection import tail_p, whole_rule_p
from .transient import added_variance, slow_only_at_first

# A deviation below this would make every query follow the factor exactly.
_LEAST_DEVIATION = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """What the queries have in common, and (s, 1) the deviation of each."""

    factor: CommonFactor
    deviation: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Moved:
    """How the queries stand after the deploy.

    Args:
        contrast: after against the baseline.
        added: (s,) variance that grown noise adds, over that of one value.
        transient: (s,) whether the first minutes were left out.
    """

    contrast: Contrast
    added: Floats
    transient: Flags


def assess(
    panel: Panel,
    *,
    at: float,
    window: float,
    tolerance: float,
    searched: Flags | None = None,
) -> Assessment:
    """Find for every query the chance of its rise without any change.

    Args:
        panel: s queries past the floors, with history before the window if there is
            any.
        at: time of the deploy, Unix seconds.
        window: length of each side, seconds.
        tolerance: how far from it a change still counts as its own, seconds.
        searched: (s,) queries whose split is asked for even if they did not get
            slower; None: all.
    """
    scope = scope_of(panel, at + tolerance)
    logs = log_residuals_of(panel)
    shared = _shared(panel, logs, scope)
    noise, loading = _learn(panel, logs, shared, scope)
    dependence = _dependence(noise, scope)
    variance = noise.single * dependence.inflation
    moved = _moved(noise, dependence, variance, scope)
    # What the factor did since the baseline was taken out by loadings badly known.
    drift = np.zeros(len(variance))
    if shared is not None and loading is not None:
        values = shared.factor.values
        change = values[scope.new].mean() - values[scope.old].mean()
        drift = loading.variance * change**2
    error = variance * (moved.contrast.variance + moved.added) + drift
    score = normal_score(moved.contrast.rise / np.sqrt(error), dependence.dof)
    score = skewness_corrected(score, noise.skewness * moved.contrast.skewness)
    stretch = _placebo_stretch(noise, dependence, variance)
    score = stretch.undo(score)
    wanted = score > 0
    if searched is None:
        wanted[:] = True
    else:
        wanted |= searched
    split_at, seen_until, statistic = _search(panel, noise, scope, wanted)
    is_near = near(split_at, seen_until, at=at, tolerance=tolerance)
    p = whole_rule_p(
        score,
        dependence.phi,
        window=panel.window,
        after=scope.new.stop - scope.new.start,
        baseline=scope.baseline,
        tolerance=tolerance / window,
    )
    hides = hides_changes(
        panel.present, panel.starts, panel.ends, at=at, tolerance=tolerance
    )
    # More splits count as near than the chances were simulated for: at most all.
    p[hides] = tail_p(score[hides])
    recent = Contrast(noise.recent, moved.contrast.after)
    return Assessment(
        p_value=np.where(is_near & (score > 0), p, 1.0),
        score=score,
        split_at=split_at,
        statistic=statistic,
        near=is_near,
        phi=dependence.phi,
        deviation=np.sqrt(noise.single),
        log_error=np.sqrt(variance * (recent.variance + moved.added)) * stretch.base,
        history=panel.before,
        long_history=scope.long,
        common_rise=1.0 if shared is None else float(np.exp(shared.factor.step)),
        by_dispersion=noise.by_dispersion,
        transient=moved.transient,
    )


def log_residuals_of(panel: Panel) -> Floats:
    """(s, t) logarithms around each query's level before the deploy."""
    logs = np.empty(panel.means.shape)
    for rows in blocks(*panel.means.shape):
        part = panel.rows(rows)
        logs[rows] = log_residuals(part.means, part.present, panel.before)
    return logs


def _shared(panel: Panel, logs: Floats, scope: Scope) -> _Shared | None:
    """The common factor, where there are enough queries and intervals to see one."""
    if not scope.sees_factor:
        return None
    past = slice(0, panel.before)
    deviation = np.concatenate(
        [
            robust_deviation(logs[rows, past], panel.calls[rows, past] > 0)
            for rows in blocks(*panel.means.shape)
        ]
    )
    deviation = np.maximum(deviation, _LEAST_DEVIATION)
    count = sum(
        np.count_nonzero(panel.calls[rows]) for rows in blocks(*panel.means.shape)
    )
    factor = common_factor(
        column_medians(logs, panel.calls),
        deviation,
        count / panel.starts.size,
        before=panel.before,
        after=panel.after,
    )
    return _Shared(factor, deviation)


def _learn(
    panel: Panel, logs: Floats, shared: _Shared | None, scope: Scope
) -> tuple[QueryNoise, Loadings | None]:
    """Every query's noise, and how it follows the factor."""
    noises, followed = [], []
    for rows in blocks(*panel.means.shape):
        part, own = panel.rows(rows), logs[rows]
        if shared is not None:
            present, factor = part.present, shared.factor
            loading = loadings(
                own, present, shared.deviation[rows], factor, before=panel.before
            )
            own = without_factor(own, present, loading, factor)
            followed.append(loading)
        noises.append(learn(part, own, scope))
    return (
        concatenated(noises),
        concatenated(followed) if followed else None,
    )


def _dependence(noise: QueryNoise, scope: Scope) -> Dependence:
    """Of each query, by what the family has in common and what changed of late."""
    known = noise.dependence
    if scope.long and scope.family:
        ratio, dof = shrink(known.inflation, known.dof)
        known = Dependence(known.phi, ratio, dof)
    if noise.late is not None:
        known = grown_of_late(known, noise.late, noise.late_count)
    return known


def _moved(
    noise: QueryNoise, dependence: Dependence, variance: Floats, scope: Scope
) -> _Moved:
    transient = slow_only_at_first(
        noise.after_values, noise.after_weights, variance, scope.head
    )
    weights = noise.after_weights
    if transient.any():
        weights = weights.copy()
        weights[transient, : scope.head] = 0.0
    added = np.zeros(len(variance))
    if scope.long:
        added = added_variance(
            noise.after_values, weights, noise.single, dependence.phi
        )
    after = Run.of(noise.after_values, weights)
    return _Moved(Contrast(noise.baseline, after), added, transient)


def _placebo_stretch(
    noise: QueryNoise, dependence: Dependence, variance: Floats
) -> TailStretch:
    """Score moments of the history at which nothing was deployed."""
    placebos = noise.placebos
    if placebos is None:
        return TailStretch()
    error = placebos.variance
    known = np.isfinite(error)
    t = placebos.rise / np.sqrt(variance[:, None] * np.where(known, error, 1.0))
    score = normal_score(t, dependence.dof[:, None])
    skewness = noise.skewness[:, None] * placebos.skewness
    return tail_stretch(np.where(known, skewness_corrected(score, skewness), np.nan))


def _search(
    panel: Panel, noise: QueryNoise, scope: Scope, wanted: Flags
) -> tuple[Floats, Floats, Floats]:
    """At the best split of each query its two segments, and the statistic.

    Returns:
        (s,) start of the right segment, (s,) end of the left one, Unix seconds, and
        (s,) the statistic; NaN where it is not wanted.
    """
    split_at, seen_until, statistic = (np.full(len(wanted), np.nan) for _ in range(3))
    rows = slice(None) if wanted.all() else np.flatnonzero(wanted)
    present = panel.calls[rows][:, scope.searched] > 0
    columns, statistic[rows] = best_splits_of_present(noise.searched[rows], present)
    split_at[rows] = panel.starts[scope.searched][columns]
    seen_until[rows] = ends_before(columns, present, panel.ends[scope.searched])
    return split_at, seen_until, statistic
