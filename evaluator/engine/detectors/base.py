"""What every detector is: a method to judge prepared queries, and what it needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...model import (
    Check,
    Flags,
    Floats,
    Method,
    Outcome,
    Places,
    Settings,
    SharedFactor,
    Stage,
    Verdict,
)
from ..prepare.prepared import Prepared
from ..stats.blocks import blocks
from ..stats.energy_split import best_splits_of_present, min_segments
from ..stats.nearness import ends_before, near
from ..stats.welch import WelchTests, welch_tests

# Outcomes and stages as small numbers, by their order.
OUTCOMES, STAGES = tuple(Outcome), tuple(Stage)
OUTCOME = {outcome: np.int8(code) for code, outcome in enumerate(OUTCOMES)}
STAGE = {stage: np.int8(code) for code, stage in enumerate(STAGES)}


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The best split of k series.

    Args:
        splits: (k,) usable intervals of the left segment.
        at: (k,) start of the right segment, Unix seconds.
        statistics: (k,) energy statistic there, in the unit of the method.
        min_segments: (k,) fewest intervals that a segment may have.
        near: (k,) whether the change may lie inside the tolerance.
        tests: of the two segments, where near; elsewhere NaN.
    """

    splits: Places
    at: Floats
    statistics: Floats
    min_segments: Places
    near: Flags
    tests: WelchTests


@dataclass(frozen=True, slots=True, eq=False)
class Significances:
    """What a corrected method says of the s queries past the floors, as (s,) arrays.

    Args:
        width: factor by which a 95 % interval reaches to each side of the rise.
    """

    p_value: Floats
    q_value: Floats
    phi: Floats
    no_change_bound: Floats
    near: Flags
    long_history: Flags
    by_dispersion: Flags
    transient: Flags
    width: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What a detector says of the s queries of a Prepared that are past the floors.

    Args:
        outcomes, stages: (s,) codes, places in OUTCOMES and STAGES.
        changes: of the queries that passed the pre-filter, in their order.
        significances: None where the method does not correct for many queries.
        common_rise: factor of an abrupt rise that most queries share at the deploy.
        factors: what some of the queries do together; members are places among the s.
    """

    outcomes: NDArray[np.int8]
    stages: NDArray[np.int8]
    changes: Changes
    significances: Significances | None = None
    common_rise: float = 1.0
    factors: tuple[SharedFactor, ...] = ()


class Detector(ABC):
    """One method: a file with a subclass, and a line in the registry."""

    method: ClassVar[Method]

    @abstractmethod
    def judge(
        self,
        prepared: Sequence[Prepared],
        at: float,
        settings: Settings,
        look: int | None,
    ) -> list[Judged]:
        """Judge the queries past the floors.

        Args:
            prepared: one for each server; all of them are one deploy.
            at: time of the deploy, Unix seconds.
            look: index into the method's looks, None when this is the only one.
        """

    @abstractmethod
    def explain(self, verdict: Verdict, settings: Settings) -> tuple[Check, ...]:
        """The steps behind a verdict of this method, each with what it needs."""


def stages_of(prepared: Prepared) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """(s,) outcomes and stages as the pre-filter leaves them: nothing found so far."""
    outcomes = np.full(len(prepared.rows), OUTCOME[Outcome.NO_REGRESSION])
    stages = np.where(
        prepared.risen, STAGE[Stage.EDIVISIVE], STAGE[Stage.PREFILTER]
    ).astype(np.int8)
    return outcomes, stages


def search(
    means: Floats,
    present: Flags,
    starts: Floats,
    ends: Floats,
    *,
    at: float,
    tolerance: float,
) -> Changes:
    """The best split of each of k series, and where that is near, its test.

    Args:
        means: (k, n) seconds per call.
        present: (k, n) which intervals there are.
        starts: (k, n) their starts, Unix seconds.
        ends: (n,) their ends.
        at: time of the deploy, Unix seconds.
        tolerance: how far from it a change still counts as its own, seconds.
    """
    columns, statistics = best_splits_of_present(means, present)
    change_at = np.take_along_axis(starts, columns[:, None], axis=1)[:, 0]
    seen_until = ends_before(columns, present, ends)
    is_near = near(change_at, seen_until, at=at, tolerance=tolerance)
    return changes(columns, change_at, statistics, is_near, means, present)


def changes(
    columns: Places,
    change_at: Floats,
    statistics: Floats,
    is_near: Flags,
    means: Floats,
    present: Flags,
) -> Changes:
    """Tested changes of k series whose splits are known.

    Args:
        columns: (k,) interval that begins the right segment.
        change_at, statistics, is_near: (k,) as in Changes.
        means, present: (k, n) as in :func:`search`.
    """
    left = np.arange(means.shape[1]) < columns[:, None]
    return Changes(
        splits=np.count_nonzero(present & left, axis=1),
        at=change_at,
        statistics=statistics,
        min_segments=min_segments(np.count_nonzero(present, axis=1)),
        near=is_near,
        tests=_tests(means, columns, present, is_near),
    )


def _tests(means: Floats, columns: Places, present: Flags, wanted: Flags) -> WelchTests:
    """Of the wanted series; NaN and not upward for the rest."""
    s, n = means.shape
    t, nu, p_nominal = (np.full(s, np.nan) for _ in range(3))
    upward = np.zeros(s, dtype=bool)
    chosen, whole = np.flatnonzero(wanted), bool(present.all())
    for rows in (chosen[block] for block in blocks(chosen.size, n)):
        if rows.size:
            there = None if whole else present[rows]
            tests = welch_tests(means[rows], columns[rows], there)
            t[rows], nu[rows] = tests.t, tests.nu
            p_nominal[rows], upward[rows] = tests.p_nominal, tests.upward
    return WelchTests(t, nu, p_nominal, upward)
