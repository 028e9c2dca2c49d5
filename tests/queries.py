"""Queries one by one, each with scrapes of its own; the engine takes batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.engine import judge
from evaluator.engine.prepare.intervals import GAP, IDLE, RESET, intervals
from evaluator.model import (
    Batch,
    Deploy,
    Floats,
    QueryIntervals,
    QueryKey,
    Settings,
    Surroundings,
    Verdict,
    join,
)
from evaluator.sources.readings import Reading

NOTHING_AROUND = Surroundings()


@dataclass(frozen=True)
class Counters:
    """The counters of one query, (n,) each, at scrapes of its own."""

    key: QueryKey
    times: Floats
    calls: Floats
    seconds: Floats
    since: Floats | None = None
    rows: Floats | None = None
    blocks: Floats | None = None
    squares: Floats | None = None

    def batch(self) -> Batch:
        """The same as a batch of one query."""
        names = ("calls", "seconds", "since", "rows", "blocks", "squares")
        values = {name: getattr(self, name) for name in names}
        return Batch(
            (self.key,),
            self.times,
            {name: one[None, :] for name, one in values.items() if one is not None},
        )


def batches(series: Iterable[Counters]) -> tuple[Batch, ...]:
    """Queries side by side, one batch for each server."""
    return join(one.batch() for one in series)


def judged(
    series: Iterable[Counters],
    at: Deploy,
    settings: Settings,
    surroundings: Surroundings = NOTHING_AROUND,
    *,
    look: int | None = None,
) -> tuple[Verdict, ...]:
    """Every verdict on these queries."""
    return tuple(judge(batches(series), at, settings, surroundings, look=look))


def series_of(reading: Reading) -> list[Counters]:
    """The queries of a reading one by one, at the scrapes that stored them."""
    series = []
    for batch in reading.batches:
        for row, (key, kept) in enumerate(zip(batch.keys, batch.present, strict=True)):
            columns = {name: one[row, kept] for name, one in batch.columns.items()}
            series.append(Counters(key, batch.times[kept], **columns))
    return series


@dataclass(frozen=True)
class Usable(QueryIntervals):
    """The usable intervals of one query, and how many were dropped."""

    dropped: Mapping[str, int]
    rows: Floats | None = None
    blocks: Floats | None = None
    dispersion: Floats | None = None


def interval_means(
    series: Sequence[Counters], start: float, end: float, *, max_gap: float
) -> list[Usable]:
    """The usable intervals of each query between two times, by itself."""
    return [_usable(one.batch().between(start, end), max_gap) for one in series]


def _usable(batch: Batch, max_gap: float) -> Usable:
    found = intervals(batch, max_gap=max_gap)
    kept = found.usable[0]
    kinds = (("reset", RESET), ("gap", GAP), ("idle", IDLE))
    return Usable(
        batch.keys[0],
        found.starts()[0, kept],
        found.ends[kept],
        found.calls[0, kept],
        found.seconds[0, kept],
        {name: int(np.count_nonzero(found.kinds == kind)) for name, kind in kinds},
        **{name: one[0, kept] for name, one in found.further.items()},
    )
