"""The verdict on one query, with the numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from .batch import QueryKey
from .context import Cause, PlanChange
from .steps import ChangePoint, Effect, Significance, WelchTest, Window


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the engine says about one query after one deploy, and the numbers behind it.

    Numbers of steps that were not reached are None.

    Args:
        unused_seconds: execution time after the deploy in intervals that are too long
            to be used; not in ``after``.
        replaces: query id that the same statement had before the deploy.
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
    significance: Significance | None = None
    causes: tuple[Cause, ...] = ()
    plan_change: PlanChange | None = None
    replaces: str = ""
    unused_seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.outcome is Outcome.DETECTED and (
            self.effect is None or self.change is None or self.test is None
        ):
            raise ValueError("a detected regression must carry its effect and its test")
        if self.outcome is Outcome.INSUFFICIENT_DATA and not self.reason:
            raise ValueError("insufficient data must say what is missing")

    @property
    def external_cause(self) -> bool:
        """Whether something besides the deploy may explain the finding."""
        return any(cause.external for cause in self.causes)

    @property
    def p_value(self) -> float | None:
        """The calibrated p-value, or the nominal one of the classic engine."""
        if self.significance is not None:
            return self.significance.p_value
        return None if self.test is None else self.test.p_nominal
