"""The calibrated rule: pre-filter → search and tolerance → whole-rule p → q-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..model import (
    Calibration,
    ChangePoint,
    Deploy,
    IntervalMeans,
    Level,
    Outcome,
    Settings,
    Significance,
    Stage,
    Verdict,
)
from .bound import no_change_bound
from .calibration.calibrate import calibrate
from .calibration.grids import same_grids
from .calibration.panel import align
from .edivisive import min_segment
from .family import q_values, spent
from .intervals import interval_means
from .query import Query, changed_elsewhere
from .welch import welch_test

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
    start = deploy.at - max(settings.history, settings.window)
    series = [query.series for query in queries]
    long = interval_means(series, start, end, max_gap=settings.max_gap)
    found: list[tuple[Query, Calibration, int]] = []
    for grid in same_grids(long):
        calibration = _calibrate([long[index] for index in grid], deploy, settings)
        found += [(queries[index], calibration, row) for row, index in enumerate(grid)]
    common_rise = {
        calibration.keys[0].instance: calibration.common_rise
        for _, calibration, _ in found
        if calibration.common_rise != 1.0
    }
    p = np.array([calibration.p_value[row] for _, calibration, row in found])
    if look is not None:
        p = spent(p, look)
    verdicts = []
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
        verdicts.append(_verdict(query, calibration, row, significance, settings))
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


def _verdict(
    query: Query,
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
        return changed_elsewhere(verdict)
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
