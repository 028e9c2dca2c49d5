"""What it takes to see a rise of a given size through a given noise."""

from __future__ import annotations

from dataclasses import dataclass

from .batch import QueryKey


@dataclass(frozen=True, slots=True)
class Noise:
    """How the interval means of one query vary when nothing changes.

    Args:
        cv: standard deviation over mean of one interval mean.
        phi: correlation of neighbouring intervals.
        calls: executions in one interval.
        spacing: time from one usable interval to the next, seconds.
        key: the query that was measured, if any was.
        name: what kind of query it stands for.
    """

    cv: float
    phi: float
    calls: float
    spacing: float
    key: QueryKey | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not (self.cv > 0 and -1 < self.phi < 1):
            raise ValueError(f"no noise: cv {self.cv}, phi {self.phi}")
        if not (self.calls > 0 and self.spacing > 0):
            raise ValueError(f"nothing runs: {self.calls} calls, {self.spacing} s")


@dataclass(frozen=True, slots=True)
class Price:
    """Intervals needed on each side of the deploy to find a rise in four of five.

    Args:
        rise: fraction, 0.2 for +20 %.
        threshold: of the pre-filter in the simulation.
        asymptotic: intervals by the formula for a known split and independent noise.
        simulated: intervals that the engine needs; None: more than ``tried``.
        power: share found with that many.
        tried: the longest window that was simulated, intervals.
    """

    rise: float
    threshold: float
    asymptotic: int
    simulated: int | None
    power: float
    tried: int


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices by noise, and the queries that were measured.

    Args:
        rows: the noise, and a price for each rise.
        measured: every query that could be measured, the noisiest first.
        unmeasured: queries with too few intervals to measure.
    """

    engine: str
    rows: tuple[tuple[Noise, tuple[Price, ...]], ...]
    measured: tuple[Noise, ...] = ()
    unmeasured: int = 0
