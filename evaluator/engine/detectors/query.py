"""A query on its way through the steps, as both engines' rules share it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...model import CounterSeries, IntervalMeans, Outcome, Stage, Verdict


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A query past the floors: its intervals in the windows, its verdict so far."""

    series: CounterSeries
    intervals: IntervalMeans
    verdict: Verdict


def changed_elsewhere(verdict: Verdict) -> Verdict:
    """A change that does not belong to the deploy, however strong."""
    return replace(verdict, outcome=Outcome.BACKGROUND_CHANGE, stage=Stage.TOLERANCE)
