"""What each step of the engine finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
class ChangePoint:
    """The best split of a series in two.

    Args:
        split: the right segment begins with this interval, counted from 0.
        at: start of that interval, Unix seconds.
        statistic: energy statistic Q at the split, in the unit of the method.
        min_segment: fewest intervals a segment may have.
    """

    split: int
    at: float
    statistic: float
    min_segment: int


@dataclass(frozen=True, slots=True)
class WelchTest:
    """Welch's t-test of the two segments at the split.

    ``t`` and ``nu`` are None when no segment varies. ``p_nominal`` is
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
        low, high: 95 % confidence interval of the factor, where the engine has one.
    """

    before: float
    after: float
    factor: float
    extra_seconds_per_second: float
    low: float | None = None
    high: float | None = None


class Level(StrEnum):
    """What becomes of a finding: an alert wakes somebody, a watch does not."""

    ALERT = "alert"
    WATCH = "watch"


@dataclass(frozen=True, slots=True)
class Significance:
    """What the calibrated engine says of the rise of one query.

    Args:
        p_value: chance, without any change, that the whole rule finds as much.
        q_value: false discovery rate at which the finding is kept, over all queries of
            the deploy that passed the floors.
        level: None where it is neither for an alert nor for the watch list.
        phi: correlation of neighbouring intervals; None where nothing rose and the
            query is none of those that others are compared with.
        no_change_bound: least probability that nothing changed, for the prior set.
        long_history: whether the noise was learnt from before the window, too.
        by_dispersion: whether the dispersion of single calls weighed the intervals.
        transient: whether the first minutes were left out of the score, because what
            was slow there had passed.
    """

    p_value: float
    q_value: float
    level: Level | None
    phi: float | None
    no_change_bound: float
    long_history: bool
    by_dispersion: bool = False
    transient: bool = False
