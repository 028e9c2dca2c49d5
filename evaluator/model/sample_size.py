"""The sample size needed to find a rise of a given size in a given noise."""

from __future__ import annotations

from dataclasses import dataclass

from .batch import QueryKey


@dataclass(frozen=True, slots=True)
class Noise:
    """How the interval means of one query vary when nothing changes.

    Args:
        cv: coefficient of variation of an interval mean.
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
            raise ValueError(f"impossible noise: cv {self.cv}, phi {self.phi}")
        if not (self.calls > 0 and self.spacing > 0):
            raise ValueError(
                f"calls and spacing must be above 0, got {self.calls} calls and "
                f"{self.spacing} s"
            )


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Intervals needed on each side of the deploy to find a rise in four of five.

    Args:
        rise: fraction, 0.2 for +20 %.
        threshold: of the pre-filter in the simulation.
        formula: intervals by the formula for a known split and independent noise.
        simulated: intervals that the engine needs; None: more than ``longest``.
        power: share of the simulated rises found with that many intervals.
        longest: most intervals that were simulated.
    """

    rise: float
    threshold: float
    formula: int
    simulated: int | None
    power: float
    longest: int


@dataclass(frozen=True, slots=True)
class SampleSizeTable:
    """Required sample sizes by noise, and the queries that were measured.

    Args:
        rows: the noise, and the sample size for each rise.
        measured: every query that could be measured, the noisiest first.
        unmeasured: number of queries with too few intervals to measure.
    """

    engine: str
    rows: tuple[tuple[Noise, tuple[SampleSize, ...]], ...]
    measured: tuple[Noise, ...] = ()
    unmeasured: int = 0
