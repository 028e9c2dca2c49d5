"""The classic rule: pre-filter → E-divisive → tolerance → Welch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..model import ChangePoint, Deploy, Outcome, Settings, Stage, Verdict
from .attribution import near
from .edivisive import best_splits, min_segment
from .query import Query, changed_elsewhere
from .welch import welch_test


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
        means = np.stack([query.intervals.means for query in group])
        for query, split, q in zip(group, *best_splits(means), strict=True):
            change = ChangePoint(
                split=int(split),
                at=float(query.intervals.starts[split]),
                statistic=float(q),
                min_segment=min_segment(n),
            )
            yield _verdict(query, change, deploy, settings)


def _verdict(
    query: Query, change: ChangePoint, deploy: Deploy, settings: Settings
) -> Verdict:
    verdict = replace(query.verdict, change=change)
    if change.statistic <= 0.0:
        return verdict
    if not near(change, at=deploy.at, tolerance=settings.tolerance):
        return changed_elsewhere(verdict)
    means = query.intervals.means
    test = welch_test(means[: change.split], means[change.split :])
    significant = test.upward and test.p_nominal <= settings.alpha
    return replace(
        verdict,
        outcome=Outcome.DETECTED if significant else Outcome.NO_REGRESSION,
        stage=Stage.WELCH,
        test=test,
    )
