"""What each step of the engine finds."""

from __future__ import annotations

from dataclasses import dataclass


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
