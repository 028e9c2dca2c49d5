"""The verdicts on one subject, by which settings, and what follows from them all."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from .batch import QueryKey
from .steps import Level
from .subject import Subject
from .verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class DataQuality:
    """How much of the requested data could be used.

    Args:
        series: queries with at least one usable scrape.
        lone_samples: scrapes at which only one of the two counters was stored.
        warnings: of the source about its own answer; any means that it is partial.
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
        history: how much time before the deploy the noise is learnt from, seconds.
        prior: probability of a change before the data are seen, for the bound.
        max_unjudged: largest share of the execution time after the deploy that may go
            unjudged in a report that is clear.
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
    max_unjudged: float = 0.10

    @property
    def tolerance(self) -> float:
        """How far from the deploy a change still counts as its own, seconds."""
        return max(120.0, 0.2 * self.window)


class DecisionKind(StrEnum):
    """What the report as a whole comes to."""

    REGRESSED = "regressed"
    CLEAR = "clear"
    UNDECIDED = "undecided"
    FAILED = "failed"


class Reason(StrEnum):
    """Why the decision is what it is."""

    DETECTED = "detected"
    NONE_DETECTED = "none_detected"
    TIME_UNJUDGED = "time_unjudged"
    WINDOW_OPEN = "window_open"
    PARTIAL_DATA = "partial_data"
    NO_QUERIES = "no_queries"
    NOT_JUDGED = "not_judged"


@dataclass(frozen=True, slots=True)
class Decision:
    """What headlines, tags, exit codes and dashboards say of a report."""

    kind: DecisionKind
    reason: Reason


_UNDECIDED = DecisionKind.UNDECIDED


@dataclass(frozen=True, slots=True)
class Report:
    """The verdicts on one subject, ready for any sink to print.

    Args:
        judged_at: Unix seconds.
        notes: sentences that a reader must know to trust the rest.
        failure: why nothing could be judged; there are no verdicts then.
        share: how much of the window after the deploy had passed; below 1 the report is
            provisional.
    """

    subject: Subject
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
    def decision(self) -> Decision:
        """What it all comes to.

        Never ``clear`` while more of the execution time than the settings allow could
        not be judged: the queries count by their time, not by their number.
        """
        if self.detected:
            return Decision(DecisionKind.REGRESSED, Reason.DETECTED)
        if self.failure:
            return Decision(DecisionKind.FAILED, Reason.NOT_JUDGED)
        if self.quality.warnings:
            return Decision(_UNDECIDED, Reason.PARTIAL_DATA)
        if not self.verdicts:
            return Decision(_UNDECIDED, Reason.NO_QUERIES)
        if self.unjudged_time > self.settings.max_unjudged:
            is_open = self.share < 1.0
            reason = Reason.WINDOW_OPEN if is_open else Reason.TIME_UNJUDGED
            return Decision(_UNDECIDED, reason)
        return Decision(DecisionKind.CLEAR, Reason.NONE_DETECTED)

    @property
    def detected(self) -> tuple[Verdict, ...]:
        """The detected regressions, the costliest first."""
        detected = (v for v in self.verdicts if v.outcome is Outcome.DETECTED)
        return tuple(sorted(detected, key=_cost, reverse=True))

    @property
    def watched(self) -> tuple[Verdict, ...]:
        """The watch list: likely slower, but not sure enough to wake somebody."""
        watched = (
            v
            for v in self.verdicts
            if v.significance is not None and v.significance.level is Level.WATCH
        )
        return tuple(sorted(watched, key=_cost, reverse=True))

    @property
    def unjudged(self) -> tuple[Verdict, ...]:
        """Queries that could not be judged, or not yet."""
        unknown = (Outcome.INSUFFICIENT_DATA, Outcome.PENDING)
        return tuple(v for v in self.verdicts if v.outcome in unknown)

    @property
    def unjudged_time(self) -> float:
        """Share of the execution time after the deploy that unjudged queries took.

        Where nothing was seen of the time, every query counts the same.
        """
        unjudged = self.unjudged
        whole = sum(map(_seconds_after, self.verdicts))
        if whole > 0:
            return sum(map(_seconds_after, unjudged)) / whole
        return len(unjudged) / len(self.verdicts) if self.verdicts else 0.0

    def count(self, outcome: Outcome) -> int:
        """Number of queries with *outcome*."""
        return sum(v.outcome is outcome for v in self.verdicts)


def _seconds_after(verdict: Verdict) -> float:
    return verdict.after.seconds + verdict.unused_seconds


def _cost(verdict: Verdict) -> tuple[float, QueryKey]:
    assert verdict.effect is not None  # noqa: S101 - a Verdict cannot be built so
    return verdict.effect.extra_seconds_per_second, verdict.key
