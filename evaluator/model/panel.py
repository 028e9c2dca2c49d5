"""The intervals of many queries side by side, and what their noise says of a rise."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .batch import Flags, Floats
from .shared_factor import SharedFactor


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Interval means of s queries of one server on its t scrape intervals.

    Args:
        starts, ends: (t,) Unix seconds, ascending.
        means: (s, t) seconds per call; 0 where the query has no usable interval.
        calls: (s, t) executions; 0 where the query has no usable interval.
        before: intervals ``[:before]`` ended by the deploy.
        after: intervals ``[after:]`` started from the deploy on.
        window: how many of the intervals before the deploy lie in the window.
        dispersion: (s, t) squared distances of the calls from the mean of their
            interval, summed, square seconds; NaN where unknown; None where none is
            known.

    Raises:
        ValueError: the shapes differ, or one side of the deploy is empty.
    """

    starts: Floats
    ends: Floats
    means: Floats
    calls: Floats
    before: int
    after: int
    window: int
    dispersion: Floats | None = None

    def __post_init__(self) -> None:
        shape = len(self.means), self.starts.size
        columns = (self.means, self.calls, self.dispersion)
        if {c.shape for c in columns if c is not None} != {shape}:
            raise ValueError(f"means, calls and dispersion need the shape {shape}")
        if not 0 < self.window <= self.before <= self.after < self.starts.size:
            raise ValueError("a panel needs intervals on both sides of the deploy")

    @property
    def present(self) -> Flags:
        """(s, t) where the query has a usable interval."""
        return self.calls > 0

    def rows(self, chosen: slice) -> Panel:
        """Some of the queries; nothing is copied."""
        known = self.dispersion
        return replace(
            self,
            means=self.means[chosen],
            calls=self.calls[chosen],
            dispersion=None if known is None else known[chosen],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """What the noise of s queries says of the rise after one deploy.

    Args:
        p_value: (s,) chance, without a change, that the whole rule finds as much:
            best split inside the tolerance, upward, score at least as large.
        score: (s,) standard normal without a change; large is slower.
        split_at: (s,) start of the interval that begins the right segment, Unix
            seconds, by the search on weighted logarithms.
        statistic: (s,) energy statistic Q there, in standard deviations of the noise.
        near: (s,) whether that lies inside the tolerance.
        phi: (s,) correlation of neighbouring intervals.
        deviation: (s,) standard deviation of the logarithm of one typical mean.
        log_error: (s,) standard error of the logarithm of the factor of the windows.
        history: intervals before the deploy that were used.
        long_history: whether the noise was learnt before the deploy only; else from
            both windows, which knows slow noise badly.
        common_rise: factor of an abrupt rise that most queries share at the deploy; 1
            when there is none. It is part of every score.
        slope: (s,) whether a rise that began before the deploy explains this one; the
            score is then that of a step on top of it.
        factors: what queries do together, with their jumps at the deploy; the common
            one last. Without enough queries and history none.
        by_dispersion: (s,) whether the dispersion of calls weighed the intervals.
        transient: (s,) whether the intervals inside the tolerance after the deploy
            were left out of the score, because what was slow there had passed.
    """

    p_value: Floats
    score: Floats
    split_at: Floats
    statistic: Floats
    near: Flags
    phi: Floats
    deviation: Floats
    log_error: Floats
    history: int
    long_history: bool
    common_rise: float
    by_dispersion: Flags
    transient: Flags
    slope: Flags
    factors: tuple[SharedFactor, ...] = ()
