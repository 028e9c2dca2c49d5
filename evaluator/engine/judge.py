"""The order of the steps, and nothing else.

classic: floors → pre-filter → E-divisive → tolerance → Welch.
calibrated: floors → pre-filter → search and tolerance on weighted logarithms → chance
of the whole rule → q-values over the queries of the deploy.

A query leaves at the first step that settles its outcome; its verdict carries every
number found so far. Then what rose is explained: causes, and changes of plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..model import (
    Cause,
    Comparison,
    CounterSeries,
    Deploy,
    Effect,
    Insufficient,
    IntervalMeans,
    Outcome,
    Settings,
    Stage,
    Surroundings,
    Verdict,
)
from .causes.kinds import find_causes
from .causes.plans import plan_change
from .causes.shifts import find_shifts
from .detectors.calibrated import calibrated_rule
from .detectors.classic import classic_rule
from .detectors.query import Query
from .prepare.intervals import interval_means
from .prepare.lineage import follow as follow
from .prepare.prefilter import matters
from .prepare.windows import compare
from .stats.multiple_testing import LOOKS as LOOKS

_NOTHING = Surroundings()


def judge(
    series: Iterable[CounterSeries],
    deploy: Deploy,
    settings: Settings,
    surroundings: Surroundings = _NOTHING,
    *,
    look: int | None = None,
) -> tuple[Verdict, ...]:
    """Judge every query; the same verdicts for any order of *series*.

    Args:
        series: one for each query; samples outside windows and history are ignored.
        deploy: its ``at`` divides before from after.
        surroundings: what may explain a finding.
        look: index into ``family.LOOKS`` when the deploy is looked at several times;
            the calibrated engine then spends its error over the looks, and what is not
            detected before the last look is pending.

    Returns:
        One verdict for each series, in the order of their keys.
    """
    share = 1.0 if look is None else LOOKS[look]
    end = deploy.at + share * settings.window
    verdicts: list[Verdict] = []
    queries: list[Query] = []
    ordered = sorted(series, key=lambda one: one.key)
    start = deploy.at - settings.window
    inside = interval_means(ordered, start, end, max_gap=settings.max_gap)
    comparisons = compare(
        inside,
        at=deploy.at,
        min_samples=settings.min_samples,
        min_calls=settings.min_calls,
    )
    for one, intervals, comparison in zip(ordered, inside, comparisons, strict=True):
        verdict = _first_verdict(one, intervals, comparison, settings)
        if verdict.outcome is Outcome.INSUFFICIENT_DATA:
            verdicts.append(verdict)
        else:
            queries.append(Query(one, intervals, verdict))
    common_rise: dict[str, float] = {}
    if settings.engine == "classic":
        verdicts.extend(classic_rule(queries, deploy, settings))
    else:
        found, common_rise = calibrated_rule(queries, deploy, settings, look, end)
        verdicts.extend(found)
    causes = find_causes(
        verdicts,
        {one.key: intervals for one, intervals in zip(ordered, inside, strict=True)},
        deploy,
        settings,
        surroundings,
        find_shifts,
        common_rise=common_rise,
    )
    found = [
        _explained(verdict, causes.get(verdict.key, ()), deploy, surroundings)
        for verdict in verdicts
    ]
    if share < 1.0:
        found = [_pending(verdict) for verdict in found]
    return tuple(sorted(found, key=lambda verdict: verdict.key))


def _first_verdict(
    series: CounterSeries,
    intervals: IntervalMeans,
    comparison: Comparison | Insufficient,
    settings: Settings,
) -> Verdict:
    """Floors and pre-filter; stage ``edivisive`` when the search has to go on."""
    outcome, stage = Outcome.NO_REGRESSION, Stage.EDIVISIVE
    reason, factor, effect = "", None, None
    if isinstance(comparison, Insufficient):
        outcome, stage = Outcome.INSUFFICIENT_DATA, Stage.FLOORS
        reason = comparison.reason
    else:
        factor = comparison.factor
        if matters(comparison, threshold=settings.threshold):
            effect = _effect(comparison)
        else:
            stage = Stage.PREFILTER
    return Verdict(
        key=series.key,
        outcome=outcome,
        stage=stage,
        usable=intervals.means.size,
        dropped=intervals.dropped,
        before=comparison.before,
        after=comparison.after,
        reason=reason,
        factor=factor,
        effect=effect,
        replaces=series.replaces,
    )


def _explained(
    verdict: Verdict,
    causes: tuple[Cause, ...],
    deploy: Deploy,
    surroundings: Surroundings,
) -> Verdict:
    """A rise with its causes and its change of plan."""
    if verdict.effect is None:
        return verdict
    change = plan_change(
        verdict.key, surroundings.plans, at=deploy.at, replaces=verdict.replaces
    )
    if not causes and change is None:
        return verdict
    return replace(verdict, causes=causes, plan_change=change)


def _pending(verdict: Verdict) -> Verdict:
    """Before the window has passed only a detection is final."""
    if verdict.outcome is Outcome.DETECTED:
        return verdict
    return replace(verdict, outcome=Outcome.PENDING)


def _effect(comparison: Comparison) -> Effect:
    before, after = comparison.before, comparison.after
    mean_before, mean_after = before.seconds / before.calls, after.seconds / after.calls
    return Effect(
        before=mean_before,
        after=mean_after,
        factor=comparison.factor,
        extra_seconds_per_second=(mean_after - mean_before)
        * after.calls
        / after.duration,
    )
