"""The order of the steps, and nothing else.

classic: floors → pre-filter → E-divisive → tolerance → Welch.
calibrated: floors → pre-filter → search and tolerance on weighted logarithms → chance
of the whole rule → q-values over the queries of the deploy.

A query leaves at the first step that settles its outcome; its verdict carries every
number found so far.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..model import (
    Calibration,
    ChangePoint,
    Comparison,
    CounterSeries,
    Deploy,
    Effect,
    Insufficient,
    IntervalMeans,
    Level,
    Outcome,
    Settings,
    Significance,
    Stage,
    Verdict,
)
from .attribution import near
from .bound import no_change_bound
from .calibrated import calibrate
from .edivisive import best_splits, min_segment
from .family import LOOKS, q_values, spent
from .grids import same_grids
from .intervals import between, interval_means
from .panel import align
from .prefilter import matters
from .welch import welch_test
from .windows import compare

# Half the width of a 95 % interval, in standard errors.
_WIDTH = 1.96


@dataclass(frozen=True, slots=True, eq=False)
class _Query:
    """A query past the floors: its intervals in the windows, its verdict so far."""

    series: CounterSeries
    intervals: IntervalMeans
    verdict: Verdict


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
    queries: list[_Query] = []
    for one in sorted(series, key=lambda one: one.key):
        inside = between(one, deploy.at - settings.window, end)
        intervals = interval_means(inside, max_gap=settings.max_gap)
        verdict = _compare_windows(intervals, deploy, settings)
        if verdict.outcome is Outcome.INSUFFICIENT_DATA:
            verdicts.append(replace(verdict, replaces=one.replaces))
        else:
            verdict = replace(verdict, replaces=one.replaces)
            queries.append(_Query(one, intervals, verdict))
    if settings.engine == "classic":
        verdicts.extend(_classic(queries, deploy, settings))
    else:
        verdicts.extend(_calibrated(queries, deploy, settings, look, end))
    if share < 1.0:
        verdicts = [_pending(verdict) for verdict in verdicts]
    return tuple(sorted(verdicts, key=lambda verdict: verdict.key))


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


def _classic(
    queries: Sequence[_Query], deploy: Deploy, settings: Settings
) -> Iterator[Verdict]:
    searched: dict[int, list[_Query]] = defaultdict(list)
    for query in queries:
        if query.verdict.stage is Stage.PREFILTER:
            yield query.verdict
        else:
            searched[query.intervals.means.size].append(query)
    for n, group in searched.items():
        means = np.stack([query.intervals.means for query in group])
        for query, split, q in zip(group, *best_splits(means), strict=True):
            change = ChangePoint(
                split=int(split),
                at=float(query.intervals.starts[split]),
                statistic=float(q),
                min_segment=min_segment(n),
            )
            yield _classic_verdict(query, change, deploy, settings)


def _classic_verdict(
    query: _Query, change: ChangePoint, deploy: Deploy, settings: Settings
) -> Verdict:
    verdict = replace(query.verdict, change=change)
    if change.statistic <= 0.0:
        return verdict
    if not near(change, at=deploy.at, tolerance=settings.tolerance):
        return _elsewhere(verdict)
    means = query.intervals.means
    test = welch_test(means[: change.split], means[change.split :])
    significant = test.upward and test.p_nominal <= settings.alpha
    return replace(
        verdict,
        outcome=Outcome.DETECTED if significant else Outcome.NO_REGRESSION,
        stage=Stage.WELCH,
        test=test,
    )


def _calibrated(
    queries: Sequence[_Query],
    deploy: Deploy,
    settings: Settings,
    look: int | None,
    end: float,
) -> Iterator[Verdict]:
    """One family of hypotheses; one panel for what was scraped together."""
    start = deploy.at - max(settings.history, settings.window)
    long = [
        interval_means(between(query.series, start, end), max_gap=settings.max_gap)
        for query in queries
    ]
    found: list[tuple[_Query, Calibration, int]] = []
    for grid in same_grids(long):
        calibration = _calibrate([long[index] for index in grid], deploy, settings)
        found += [(queries[index], calibration, row) for row, index in enumerate(grid)]
    p = np.array([calibration.p_value[row] for _, calibration, row in found])
    if look is not None:
        p = spent(p, look)
    for (query, calibration, row), p_value, q_value in zip(
        found, p, q_values(p), strict=True
    ):
        significance = Significance(
            p_value=float(p_value),
            q_value=float(q_value),
            level=None,
            phi=float(calibration.phi[row]),
            no_change_bound=no_change_bound(float(p_value), settings.prior),
            long_history=calibration.long_history,
        )
        yield _calibrated_verdict(query, calibration, row, significance, settings)


def _calibrate(
    intervals: Sequence[IntervalMeans], deploy: Deploy, settings: Settings
) -> Calibration:
    panel = align(intervals, at=deploy.at, window=settings.window)
    if panel is None:
        raise ValueError("queries past the floors have intervals on both sides")
    return calibrate(
        panel, at=deploy.at, window=settings.window, tolerance=settings.tolerance
    )


def _calibrated_verdict(
    query: _Query,
    calibration: Calibration,
    row: int,
    significance: Significance,
    settings: Settings,
) -> Verdict:
    verdict = replace(query.verdict, significance=significance)
    if verdict.stage is Stage.PREFILTER or verdict.effect is None:
        return verdict
    intervals = query.intervals
    at = float(calibration.split_at[row])
    split = int(np.searchsorted(intervals.starts, at))
    change = ChangePoint(
        split=split,
        at=at,
        statistic=float(calibration.statistic[row]),
        min_segment=min_segment(intervals.means.size),
    )
    width = float(np.exp(_WIDTH * calibration.log_error[row]))
    factor = verdict.effect.factor
    effect = replace(verdict.effect, low=factor / width, high=factor * width)
    verdict = replace(verdict, change=change, effect=effect)
    if not calibration.near[row]:
        return _elsewhere(verdict)
    level = _level(significance.q_value, settings)
    return replace(
        verdict,
        outcome=Outcome.DETECTED if level is Level.ALERT else Outcome.NO_REGRESSION,
        stage=Stage.FAMILY,
        test=welch_test(intervals.means[:split], intervals.means[split:]),
        significance=replace(significance, level=level),
    )


def _level(q_value: float, settings: Settings) -> Level | None:
    if q_value <= settings.alpha:
        return Level.ALERT
    return Level.WATCH if q_value <= settings.watch else None


def _elsewhere(verdict: Verdict) -> Verdict:
    return replace(verdict, outcome=Outcome.BACKGROUND_CHANGE, stage=Stage.TOLERANCE)


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
