"""What each rise is worth among its own noise: the order of the steps.

logarithms → common factor out → for each query (``query_noise``) weights, standardised
residuals, outliers, dependence → shrinkage over the family → transients out → score →
placebos → p-value of the whole rule, given where the split fell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Assessment, Flags, Floats, Panel, Places
from ..stats.blocks import blocks, concatenated
from ..stats.energy_split import best_splits_of_present
from ..stats.nearness import ends_before, hides_changes, near
from .autocorrelation import Dependence, shrink
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
from .shared.empirical_null import empirical_null
from .shared.events import events_elsewhere
from .shared.removal import remove_shared
from .slope import LEAST_STEP, Slopes, find_slopes
from .transient import added_variance, passed_intervals

# Scores below are not findings, whatever made them: one query in twenty has more.
_MATTERS = 1.64


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
    reference: Flags | None = None,
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
        reference: (s,) queries that show what is usual at this deploy, chosen without
            looking at what came after it; None: all.
    """
    if reference is None:
        reference = np.ones(len(panel.means), dtype=bool)
    scope = scope_of(panel, at, tolerance, int(np.count_nonzero(reference)))
    shared = remove_shared(panel, log_residuals_of(panel), scope, reference)
    noise = _learn(panel, shared.rest, scope)
    dependence = _dependence(noise, scope)
    variance = noise.single * dependence.inflation
    moved = _moved(noise, dependence, variance, scope)
    error = variance * (moved.contrast.variance + moved.added) + shared.error
    score = normal_score(moved.contrast.rise / np.sqrt(error), dependence.dof)
    score = skewness_corrected(score, noise.skewness * moved.contrast.skewness)
    stretch = _placebo_stretch(noise, dependence, variance)
    score = stretch.undo(score)
    event = np.full(len(score), -1)
    if scope.groups:
        events = events_elsewhere(
            noise.searched / np.sqrt(noise.single)[:, None],
            dependence.inflation,
            scope.near,
            reference,
        )
        event, usual = events.place, reference & ~events.moved
        if usual.any() and not shared.abrupt:
            score = empirical_null(score[usual]).corrected(score)
    wanted = score > 0
    if searched is None:
        wanted[:] = True
    else:
        wanted |= searched
    split_at, seen_until, statistic = _search(panel, noise, scope, wanted)
    is_near = near(split_at, seen_until, at=at, tolerance=tolerance) & (event < 0)
    split_at = np.where(event >= 0, panel.starts[scope.searched][event], split_at)
    rows = np.flatnonzero(is_near & (score > _MATTERS))
    slopes = _slopes(panel, shared.rest, noise, variance, scope, rows)
    score[rows] = np.minimum(score[rows], slopes.step)
    slope = np.zeros(len(score), dtype=bool)
    slope[rows] = slopes.slope
    lost = slopes.slope & (slopes.step < LEAST_STEP)
    is_near[rows[lost]] = False
    split_at[rows[lost]] = panel.starts[scope.old.start :][slopes.begins[lost]]
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
        common_rise=shared.common_rise,
        by_dispersion=noise.by_dispersion,
        transient=moved.transient,
        slope=slope,
        factors=shared.factors,
    )


def log_residuals_of(panel: Panel) -> Floats:
    """(s, t) logarithms around each query's level before the deploy."""
    logs = np.empty(panel.means.shape)
    for rows in blocks(*panel.means.shape):
        part = panel.rows(rows)
        logs[rows] = log_residuals(part.means, part.present, panel.before)
    return logs


def _learn(panel: Panel, logs: Floats, scope: Scope) -> QueryNoise:
    """Every query's noise."""
    return concatenated(
        [learn(panel.rows(rows), logs[rows], scope) for rows in blocks(*logs.shape)]
    )


def _dependence(noise: QueryNoise, scope: Scope) -> Dependence:
    """Of each query, drawn towards what the family has in common."""
    known = noise.dependence
    if scope.long and scope.family:
        ratio, dof = shrink(known.inflation, known.dof)
        known = Dependence(known.phi, ratio, dof)
    return known


def _moved(
    noise: QueryNoise, dependence: Dependence, variance: Floats, scope: Scope
) -> _Moved:
    first = noise.values.shape[1] - (scope.new.stop - scope.new.start)
    values, weights = noise.values[:, first:], noise.weights[:, first:]
    passed = passed_intervals(values, weights, variance, scope.head)
    transient = passed > 0
    if transient.any():
        weights = np.where(np.arange(values.shape[1]) < passed[:, None], 0.0, weights)
    added = np.zeros(len(variance))
    if scope.long:
        added = added_variance(values, weights, noise.single, dependence.phi)
    after = Run.of(values, weights)
    return _Moved(Contrast(noise.baseline, after), added, transient)


def _slopes(
    panel: Panel,
    logs: Floats,
    noise: QueryNoise,
    variance: Floats,
    scope: Scope,
    rows: Places,
) -> Slopes:
    """Of some of the queries, whether they rose by a slope from before the deploy."""
    start = scope.old.start
    return find_slopes(
        logs[rows, start:],
        noise.weights[rows],
        variance[rows],
        deploy=scope.new.start - start,
        window=panel.window,
        close=(scope.close[0] - start, scope.close[1] - start),
    )


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
