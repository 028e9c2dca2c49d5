"""The classic rule: pre-filter → E-divisive → tolerance → Welch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...model import ChangePoint, Deploy, Floats, Outcome, Settings, Stage, Verdict
from ..stats.attribution import near
from ..stats.energy_split import best_splits, min_segment
from ..stats.welch import WelchTests, welch_tests
from .query import Query, changed_elsewhere


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What the steps after the pre-filter find in s series.

    Args:
        splits: (s,) index of the first interval of the right segment.
        at: (s,) its start, Unix seconds.
        statistics: (s,) energy statistic there, seconds per call.
        near: (s,) whether that lies inside the tolerance.
        tests: of the two segments.
    """

    splits: NDArray[np.intp]
    at: Floats
    statistics: Floats
    near: NDArray[np.bool_]
    tests: WelchTests


def classic_rule(
    queries: Sequence[Query], deploy: Deploy, settings: Settings
) -> Iterator[Verdict]:
    """Verdicts of the queries past the floors; equal lengths are searched together."""
    searched: dict[int, list[Query]] = defaultdict(list)
    for query in queries:
        if query.verdict.stage is Stage.PREFILTER:
            yield query.verdict
        else:
            searched[query.intervals.means.size].append(query)
    for n, group in searched.items():
        means, starts = (
            np.concatenate([getattr(q.intervals, name) for q in group]).reshape(-1, n)
            for name in ("means", "starts")
        )
        found = search(means, starts, at=deploy.at, tolerance=settings.tolerance)
        yield from _verdicts(group, found, settings)


def search(means: Floats, starts: Floats, *, at: float, tolerance: float) -> Search:
    """Find and test the best split of s series of equal length.

    Args:
        means: (s, n) seconds per call.
        starts: (s, n) starts of the intervals, Unix seconds.
        at: time of the deploy, Unix seconds.
        tolerance: how far from it a change still counts as its own, seconds.
    """
    splits, statistics = best_splits(means)
    split_at = np.take_along_axis(starts, splits[:, None], axis=1)[:, 0]
    return Search(
        splits=splits,
        at=split_at,
        statistics=statistics,
        near=near(split_at, at=at, tolerance=tolerance),
        tests=welch_tests(means, splits),
    )


def _verdicts(
    group: Sequence[Query], found: Search, settings: Settings
) -> Iterator[Verdict]:
    least = min_segment(group[0].intervals.means.size)
    columns = (found.splits, found.at, found.statistics, found.near)
    rows = zip(group, *(column.tolist() for column in columns), strict=True)
    for (query, split, at, statistic, is_near), test in zip(
        rows, found.tests.one_by_one(), strict=True
    ):
        change = ChangePoint(split, at, statistic, least)
        if statistic <= 0.0:
            yield replace(query.verdict, change=change)
        elif not is_near:
            yield changed_elsewhere(replace(query.verdict, change=change))
        else:
            significant = test.upward and test.p_nominal <= settings.alpha
            yield replace(
                query.verdict,
                outcome=Outcome.DETECTED if significant else Outcome.NO_REGRESSION,
                stage=Stage.WELCH,
                change=change,
                test=test,
            )
