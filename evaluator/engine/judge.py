"""The order of the steps, and nothing else.

floors → pre-filter → E-divisive → tolerance → Welch. A query leaves at the first step
that settles its outcome; its verdict carries every number found so far.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ..model import (
    ChangePoint,
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
from .attribution import near
from .edivisive import best_splits, min_segment
from .intervals import between, interval_means
from .prefilter import matters
from .welch import welch_test
from .windows import compare


def judge(
    series: Iterable[CounterSeries], deploy: Deploy, settings: Settings
) -> tuple[Verdict, ...]:
    """Judge every query; the same verdicts for any order of *series*.

    Args:
        series: one for each query; samples outside the windows are ignored.
        deploy: its ``at`` divides before from after.

    Returns:
        One verdict for each series, in the order of their keys.
    """
    verdicts: list[Verdict] = []
    searched: dict[int, list[tuple[IntervalMeans, Verdict]]] = defaultdict(list)
    for one in series:
        intervals = _inside_windows(one, deploy, settings)
        verdict = _compare_windows(intervals, deploy, settings)
        if verdict.stage is Stage.EDIVISIVE:
            searched[intervals.means.size].append((intervals, verdict))
        else:
            verdicts.append(verdict)
    for group in searched.values():
        verdicts.extend(_search(group, deploy, settings))
    return tuple(sorted(verdicts, key=lambda verdict: verdict.key))


def _inside_windows(
    series: CounterSeries, deploy: Deploy, settings: Settings
) -> IntervalMeans:
    start, end = deploy.at - settings.window, deploy.at + settings.window
    return interval_means(between(series, start, end), max_gap=settings.max_gap)


def _compare_windows(
    intervals: IntervalMeans, deploy: Deploy, settings: Settings
) -> Verdict:
    """Floors and pre-filter; stage ``edivisive`` when the search has to go on."""
    comparison = compare(
        intervals,
        at=deploy.at,
        min_samples=settings.min_samples,
        min_calls=settings.min_calls,
    )
    verdict = Verdict(
        key=intervals.key,
        outcome=Outcome.NO_REGRESSION,
        stage=Stage.EDIVISIVE,
        usable=intervals.means.size,
        dropped=intervals.dropped,
        before=comparison.before,
        after=comparison.after,
    )
    if isinstance(comparison, Insufficient):
        return replace(
            verdict,
            outcome=Outcome.INSUFFICIENT_DATA,
            stage=Stage.FLOORS,
            reason=comparison.reason,
        )
    verdict = replace(verdict, factor=comparison.factor)
    if not matters(comparison, threshold=settings.threshold):
        return replace(verdict, stage=Stage.PREFILTER)
    return replace(verdict, effect=_effect(comparison))


def _search(
    group: list[tuple[IntervalMeans, Verdict]], deploy: Deploy, settings: Settings
) -> Iterator[Verdict]:
    """Find the best split of series of equal length, and ask what it means."""
    means = np.stack([intervals.means for intervals, _ in group])
    for (intervals, verdict), split, q in zip(group, *best_splits(means), strict=True):
        change = ChangePoint(
            split=int(split),
            at=float(intervals.starts[split]),
            statistic=float(q),
            min_segment=min_segment(intervals.means.size),
        )
        yield _weigh(intervals, replace(verdict, change=change), deploy, settings)


def _weigh(
    intervals: IntervalMeans, verdict: Verdict, deploy: Deploy, settings: Settings
) -> Verdict:
    change = verdict.change
    if change is None or change.statistic <= 0.0:
        return verdict
    if not near(change, at=deploy.at, tolerance=settings.tolerance):
        return replace(
            verdict, outcome=Outcome.BACKGROUND_CHANGE, stage=Stage.TOLERANCE
        )
    test = welch_test(intervals.means[: change.split], intervals.means[change.split :])
    significant = test.upward and test.p_nominal <= settings.alpha
    return replace(
        verdict,
        outcome=Outcome.DETECTED if significant else Outcome.NO_REGRESSION,
        stage=Stage.WELCH,
        test=test,
    )


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
