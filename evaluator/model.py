"""Every value that flows from a counter to a verdict; plain, frozen, in SI units.

Times are Unix seconds, durations seconds. Arrays are never written to after they have
been put into a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


class Outcome(StrEnum):
    """What the engine says about one query after one deploy."""

    DETECTED = "detected"
    NO_REGRESSION = "no_regression"
    INSUFFICIENT_DATA = "insufficient_data"
    BACKGROUND_CHANGE = "background_change"
    PENDING = "pending"


class Stage(StrEnum):
    """The step that settled the outcome."""

    FLOORS = "floors"
    PREFILTER = "prefilter"
    EDIVISIVE = "edivisive"
    TOLERANCE = "tolerance"
    WELCH = "welch"
    FAMILY = "family"


@dataclass(frozen=True, slots=True, order=True)
class QueryKey:
    """One row of pg_stat_statements on one server; label values as Prometheus has them.

    A label that the exporter does not write is the empty string.
    """

    instance: str
    database: str
    user: str
    queryid: str
    toplevel: str


@dataclass(frozen=True, slots=True)
class Deploy:
    """A change of the service, as a mark in time.

    Args:
        id: stable across restarts, for example ``grafana-42``.
        at: when it happened, Unix seconds.
        source: where the mark was found, for a person to read.
        link: address of the mark, or empty.
    """

    id: str
    at: float
    service: str = ""
    environment: str = ""
    version: str = ""
    source: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class CounterSeries:
    """The counters of one query at the scrapes at which all of them were stored.

    Args:
        times: (n,) scrape times, Unix seconds, ascending.
        calls: (n,) executions so far.
        seconds: (n,) execution time so far.
        since: (n,) when the entry was made, Unix seconds; NaN where unknown; None
            where the server does not tell.
    """

    key: QueryKey
    times: Floats
    calls: Floats
    seconds: Floats
    since: Floats | None = None

    def __post_init__(self) -> None:
        columns = [
            self.calls,
            self.seconds,
            *([] if self.since is None else [self.since]),
        ]
        if any(column.shape != self.times.shape for column in columns):
            raise ValueError(f"{self.key}: every column needs one value per scrape")


@dataclass(frozen=True, slots=True, eq=False)
class IntervalMeans:
    """What one query did between consecutive scrapes, m usable intervals in time order.

    Args:
        starts, ends: (m,) Unix seconds.
        calls: (m,) executions in the interval, above 0.
        seconds: (m,) execution time in the interval.
        means: (m,) seconds per call.
        dropped: how many intervals were not usable, by reason.
    """

    key: QueryKey
    starts: Floats
    ends: Floats
    calls: Floats
    seconds: Floats
    means: Floats
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Window:
    """Sums over the usable intervals on one side of the deploy.

    ``mean`` is seconds per call over all calls, and None when nothing was called.
    """

    samples: int
    calls: float
    seconds: float
    duration: float

    @property
    def mean(self) -> float | None:
        return self.seconds / self.calls if self.calls > 0 else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides of the deploy; ``factor`` is mean after / mean before."""

    before: Window
    after: Window
    factor: float


@dataclass(frozen=True, slots=True)
class Insufficient:
    """Both sides, and why they cannot be compared."""

    before: Window
    after: Window
    reason: str


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The best split of a series in two.

    Args:
        split: the right segment begins with this interval, counted from 0.
        at: start of that interval, Unix seconds.
        statistic: energy statistic Q at the split, seconds per call.
        min_segment: fewest intervals a segment may have.
    """

    split: int
    at: float
    statistic: float
    min_segment: int


@dataclass(frozen=True, slots=True)
class WelchTest:
    """Welch's t-test of the two segments at the split.

    ``t`` and ``nu`` are None when neither segment has any spread. ``p_nominal`` is
    two-sided and takes the split as given, though it was searched.
    """

    t: float | None
    nu: float | None
    p_nominal: float
    upward: bool

    @property
    def score(self) -> float:
        """Ranks findings; not a probability of anything."""
        return 1.0 - self.p_nominal


@dataclass(frozen=True, slots=True)
class Effect:
    """How much slower, and what that costs.

    Args:
        before, after: seconds per call.
        factor: after / before.
        extra_seconds_per_second: rise of the mean times calls per second after.
    """

    before: float
    after: float
    factor: float
    extra_seconds_per_second: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the engine says about one query after one deploy, and the numbers behind it.

    Numbers of steps that were not reached are None.
    """

    key: QueryKey
    outcome: Outcome
    stage: Stage
    usable: int
    dropped: Mapping[str, int]
    before: Window
    after: Window
    reason: str = ""
    factor: float | None = None
    change: ChangePoint | None = None
    test: WelchTest | None = None
    effect: Effect | None = None

    def __post_init__(self) -> None:
        if self.outcome is Outcome.DETECTED and (
            self.effect is None or self.change is None or self.test is None
        ):
            raise ValueError("a detected regression must carry its effect and its test")
        if self.outcome is Outcome.INSUFFICIENT_DATA and not self.reason:
            raise ValueError("insufficient data must say what is missing")


@dataclass(frozen=True, slots=True)
class DataQuality:
    """How much of what was asked for could be used.

    Args:
        series: queries with at least one usable scrape.
        lone_samples: scrapes at which only one of the two counters was stored.
        warnings: what the source itself said about its answer; not empty means partial.
    """

    series: int = 0
    lone_samples: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """The engine's settings, with the defaults of the method.

    Args:
        engine: name of the rule that judges.
        window: length of each side of the deploy, seconds.
        min_samples, min_calls: floors for each side.
        threshold: least rise of the mean worth reporting, 0.2 for +20 %.
        alpha: significance level.
        max_gap: longest interval between two scrapes to trust, seconds.
    """

    engine: str = "classic"
    window: float = 1800.0
    min_samples: int = 10
    min_calls: int = 100
    threshold: float = 0.20
    alpha: float = 0.05
    max_gap: float = 300.0

    @property
    def tolerance(self) -> float:
        """How far from the deploy a change still counts as its own, seconds."""
        return max(120.0, 0.2 * self.window)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything said about one deploy, ready for any sink to print.

    ``notes`` are sentences a reader must know to trust the rest.
    """

    deploy: Deploy
    judged_at: float
    settings: Settings
    verdicts: tuple[Verdict, ...]
    quality: DataQuality = field(default_factory=DataQuality)
    notes: tuple[str, ...] = ()

    @property
    def detected(self) -> tuple[Verdict, ...]:
        """The detected regressions, the costliest first."""
        found = (v for v in self.verdicts if v.outcome is Outcome.DETECTED)
        return tuple(sorted(found, key=_cost, reverse=True))

    def count(self, outcome: Outcome) -> int:
        """Number of queries with *outcome*."""
        return sum(v.outcome is outcome for v in self.verdicts)


def _cost(verdict: Verdict) -> tuple[float, QueryKey]:
    assert verdict.effect is not None  # noqa: S101 - a Verdict cannot be built so
    return verdict.effect.extra_seconds_per_second, verdict.key
