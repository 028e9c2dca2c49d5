"""The order of the steps, and nothing else.

classic: floors → pre-filter → E-divisive → tolerance → Welch.
calibrated: floors → pre-filter → search and tolerance on weighted logarithms → chance
of the whole rule → q-values over the queries of the deploy.

A query leaves at the first step that settles its outcome; its verdict carries every
number found so far.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..model import (
    Comparison,
    CounterSeries,
    Deploy,
    Effect,
    Insufficient,
    IntervalMeans,
    Outcome,
    Settings,
    Stage,
    Verdict,
)
from .calibrated_rule import calibrated_rule
from .classic_rule import classic_rule
from .family import LOOKS as LOOKS
from .intervals import interval_means
from .prefilter import matters
from .query import Query
from .windows import compare


def judge(
    series: Iterable[CounterSeries],
    deploy: Deploy,
    settings: Settings,
    *,
    look: int | None = None,
) -> tuple[Verdict, ...]:
    """Judge every query; the same verdicts for any order of *series*.

    Args:
        series: one for each query; samples outside windows and history are ignored.
        deploy: its ``at`` divides before from after.
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
    if settings.engine == "classic":
        verdicts.extend(classic_rule(queries, deploy, settings))
    else:
        verdicts.extend(calibrated_rule(queries, deploy, settings, look, end))
    if share < 1.0:
        verdicts = [_pending(verdict) for verdict in verdicts]
    return tuple(sorted(verdicts, key=lambda verdict: verdict.key))


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
