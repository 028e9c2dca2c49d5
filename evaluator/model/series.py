"""What was counted: one query's counters, and its intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


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


@dataclass(frozen=True, slots=True, eq=False)
class CounterSeries:
    """The counters of one query at the scrapes at which all of them were stored.

    Args:
        times: (n,) scrape times, Unix seconds, ascending.
        calls: (n,) executions so far.
        seconds: (n,) execution time so far.
        since: (n,) when the entry was made, Unix seconds; NaN where unknown; None
            where the server does not tell.
        rows: (n,) rows returned or changed so far; NaN where unknown.
        blocks: (n,) shared blocks hit and read so far; NaN where unknown.
        squares: (n,) squares of the execution times so far, summed, square seconds; NaN
            where unknown; None where the exporter does not tell.
        replaces: query id that the same statement had before the deploy, or empty.
    """

    key: QueryKey
    times: Floats
    calls: Floats
    seconds: Floats
    since: Floats | None = None
    rows: Floats | None = None
    blocks: Floats | None = None
    squares: Floats | None = None
    replaces: str = ""

    def __post_init__(self) -> None:
        columns = (self.calls, self.seconds, self.since)
        optional = (self.rows, self.blocks, self.squares)
        shapes = {
            column.shape for column in (*columns, *optional) if column is not None
        }
        if shapes != {self.times.shape}:
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
        rows, blocks: (m,) what the interval added; NaN or None where unknown.
        scatter: (m,) squared distances of the calls from the mean of their interval,
            summed, square seconds; NaN or None where unknown.
    """

    key: QueryKey
    starts: Floats
    ends: Floats
    calls: Floats
    seconds: Floats
    means: Floats
    dropped: Mapping[str, int]
    rows: Floats | None = None
    blocks: Floats | None = None
    scatter: Floats | None = None
