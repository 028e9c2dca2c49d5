"""The calibrated rule: pre-filter → search and tolerance → whole-rule p → q-values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...model import (
    Calibration,
    ChangePoint,
    Deploy,
    Effect,
    Floats,
    IntervalMeans,
    Level,
    Outcome,
    Settings,
    Significance,
    Stage,
    Verdict,
    WelchTest,
)
from ..noise.model import calibrate
from ..prepare.grids import same_grids
from ..prepare.intervals import interval_means
from ..prepare.panel import align
from ..stats.bayes_factor import no_change_bound
from ..stats.energy_split import min_segment
from ..stats.multiple_testing import q_values, spent
from ..stats.welch import welch_tests
from .query import Query, changed_elsewhere

# Half the width of a 95 % interval, in standard errors.
_WIDTH = 1.96


def calibrated_rule(
    queries: Sequence[Query],
    deploy: Deploy,
    settings: Settings,
    look: int | None,
    end: float,
) -> tuple[list[Verdict], dict[str, float]]:
    """Verdicts of the queries past the floors.

    They are one family of hypotheses; what was scraped together is one panel.

    Returns:
        The verdicts, and by server the factor of an abrupt rise that most of its
        queries share at the deploy.
    """
    if not queries:
        return [], {}
    start = deploy.at - max(settings.history, settings.window)
    series = [query.series for query in queries]
    long = interval_means(series, start, end, max_gap=settings.max_gap)
    found: list[tuple[list[Query], Calibration]] = []
    for grid in same_grids(long):
        calibration = _calibrate([long[index] for index in grid], deploy, settings)
        found.append(([queries[index] for index in grid], calibration))
    common_rise = {
        calibration.keys[0].instance: calibration.common_rise
        for _, calibration in found
        if calibration.common_rise != 1.0
    }
    p = np.concatenate([calibration.p_value for _, calibration in found])
    if look is not None:
        p = spent(p, look)
    ends = np.cumsum([len(group) for group, _ in found])[:-1]
    verdicts: list[Verdict] = []
    for (group, calibration), p_values, q in zip(
        found, np.split(p, ends), np.split(q_values(p), ends), strict=True
    ):
        verdicts += _verdicts(group, calibration, p_values, q, settings)
    return verdicts, common_rise


def _calibrate(
    intervals: Sequence[IntervalMeans], deploy: Deploy, settings: Settings
) -> Calibration:
    panel = align(intervals, at=deploy.at, window=settings.window)
    if panel is None:
        raise ValueError("queries past the floors have intervals on both sides")
    return calibrate(
        panel, at=deploy.at, window=settings.window, tolerance=settings.tolerance
    )


def _verdicts(
    queries: Sequence[Query],
    calibration: Calibration,
    p_values: Floats,
    q: Floats,
    settings: Settings,
) -> Iterator[Verdict]:
    """What is said of the queries of one calibration."""
    width = np.exp(_WIDTH * calibration.log_error)
    columns = (
        *(p_values, q, calibration.phi, calibration.near),
        *(calibration.split_at, calibration.statistic, width),
        *(calibration.by_scatter, calibration.start_up),
    )
    rows = zip(queries, *(column.tolist() for column in columns), strict=True)
    close: list[tuple[Query, Significance, ChangePoint, Effect]] = []
    for query, p_value, q_value, phi, near, at, statistic, wide, *told in rows:
        effect, intervals = query.verdict.effect, query.intervals
        significance = Significance(
            p_value=p_value,
            q_value=q_value,
            level=_level(q_value, settings) if effect and near else None,
            phi=phi,
            no_change_bound=no_change_bound(p_value, settings.prior),
            long_history=calibration.long_history,
            by_scatter=told[0],
            start_up=told[1],
        )
        if effect is None:
            yield replace(query.verdict, significance=significance)
            continue
        effect = Effect(
            before=effect.before,
            after=effect.after,
            factor=effect.factor,
            extra_seconds_per_second=effect.extra_seconds_per_second,
            low=effect.factor / wide,
            high=effect.factor * wide,
        )
        change = ChangePoint(
            split=int(intervals.starts.searchsorted(at)),
            at=at,
            statistic=statistic,
            min_segment=min_segment(intervals.means.size),
        )
        if near:
            close.append((query, significance, change, effect))
        else:
            yield replace(
                changed_elsewhere(query.verdict),
                significance=significance,
                change=change,
                effect=effect,
            )
    tests = _tests([(query, change.split) for query, _, change, _ in close])
    for (query, significance, change, effect), test in zip(close, tests, strict=True):
        alert = significance.level is Level.ALERT
        yield replace(
            query.verdict,
            outcome=Outcome.DETECTED if alert else Outcome.NO_REGRESSION,
            stage=Stage.FAMILY,
            significance=significance,
            change=change,
            effect=effect,
            test=test,
        )


def _tests(splits: Sequence[tuple[Query, int]]) -> list[WelchTest]:
    """Welch's test of each at its split; equal lengths are tested together."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, (query, _) in enumerate(splits):
        by_length[query.intervals.means.size].append(index)
    found: dict[int, WelchTest] = {}
    for indices in by_length.values():
        values = np.stack([splits[index][0].intervals.means for index in indices])
        places = np.array([splits[index][1] for index in indices])
        tests = welch_tests(values, places).one_by_one()
        found.update(zip(indices, tests, strict=True))
    return [found[index] for index in range(len(splits))]


def _level(q_value: float, settings: Settings) -> Level | None:
    if q_value <= settings.alpha:
        return Level.ALERT
    return Level.WATCH if q_value <= settings.watch else None
