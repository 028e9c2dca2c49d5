"""What is said about one deploy, and by which settings."""

from __future__ import annotations

from dataclasses import dataclass, field

from .batch import QueryKey
from .steps import Level
from .subject import Deploy
from .verdict import Outcome, Verdict


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
        alpha: significance level; of the calibrated engine, the false discovery rate
            over the queries of one deploy.
        max_gap: longest interval between two scrapes to trust, seconds.
        watch: false discovery rate of the watch list.
        history: how long before the deploy the noise is learnt from, seconds.
        prior: probability of a change before the data are seen, for the bound.
    """

    engine: str = "calibrated"
    window: float = 1800.0
    min_samples: int = 10
    min_calls: int = 100
    threshold: float = 0.20
    alpha: float = 0.05
    max_gap: float = 300.0
    watch: float = 0.20
    history: float = 14_400.0
    prior: float = 0.05

    @property
    def tolerance(self) -> float:
        """How far from the deploy a change still counts as its own, seconds."""
        return max(120.0, 0.2 * self.window)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything said about one deploy, ready for any sink to print.

    ``notes`` are sentences a reader must know to trust the rest. ``failure`` tells why
    nothing could be judged; there are no verdicts then. ``share`` is how much of the
    window after the deploy had passed: below 1 the report is provisional.
    """

    deploy: Deploy
    judged_at: float
    settings: Settings
    verdicts: tuple[Verdict, ...]
    quality: DataQuality = field(default_factory=DataQuality)
    notes: tuple[str, ...] = ()
    failure: str = ""
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.failure and self.verdicts:
            raise ValueError("a report that failed has no verdicts")

    @property
    def detected(self) -> tuple[Verdict, ...]:
        """The detected regressions, the costliest first."""
        found = (v for v in self.verdicts if v.outcome is Outcome.DETECTED)
        return tuple(sorted(found, key=_cost, reverse=True))

    @property
    def watched(self) -> tuple[Verdict, ...]:
        """The watch list: likely slower, but not sure enough to wake somebody."""
        found = (
            v
            for v in self.verdicts
            if v.significance is not None and v.significance.level is Level.WATCH
        )
        return tuple(sorted(found, key=_cost, reverse=True))

    @property
    def unjudged(self) -> tuple[Verdict, ...]:
        """Queries of which nothing can be told, or not yet."""
        unknown = (Outcome.INSUFFICIENT_DATA, Outcome.PENDING)
        return tuple(v for v in self.verdicts if v.outcome in unknown)

    @property
    def unjudged_time(self) -> float:
        """Share of the execution time in the window that the unjudged queries took.

        What no usable interval has counted is in neither part.
        """
        whole = sum(map(_seconds, self.verdicts))
        return sum(map(_seconds, self.unjudged)) / whole if whole > 0 else 0.0

    def count(self, outcome: Outcome) -> int:
        """Number of queries with *outcome*."""
        return sum(v.outcome is outcome for v in self.verdicts)


def _seconds(verdict: Verdict) -> float:
    return verdict.before.seconds + verdict.after.seconds


def _cost(verdict: Verdict) -> tuple[float, QueryKey]:
    assert verdict.effect is not None  # noqa: S101 - a Verdict cannot be built so
    return verdict.effect.extra_seconds_per_second, verdict.key
