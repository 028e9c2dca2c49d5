"""How often each statement ran on both sides of the deploy, block by block of time.

A rate is what usable intervals added, over the time that was observed. Observed is

* an interval in which the statement ran, or did not (idle);
* a stretch between two scrapes of the server before the statement's entry was made or
  after it had gone: it ran zero times there.

Not observed, and in neither sum, are intervals that say nothing (reset, gap), the one
in which the entry was made (from when on its first count is, nobody knows), and those
across the deploy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...model import Batch, Flags, Floats, QueryKey, Settings, Usage
from ..prepare.intervals import ABSENT, IDLE, USABLE, Intervals, intervals
from ..stats.blocks import blocks, concatenated

# Blocks of time on each side: long enough to hold the usual dependence of neighbours,
# enough of them to tell a variance.
_BLOCKS = 8


@dataclass(frozen=True, slots=True, eq=False)
class SideRates:
    """Sums of s statements over the b blocks of one side, (s, b).

    Args:
        calls, seconds: what usable intervals added.
        observed: seconds that were observed.
    """

    calls: Floats
    seconds: Floats
    observed: Floats

    def load(self, without: int | None = None) -> Floats:
        """(s,) execution seconds per second, perhaps without one block."""
        return self._rate(self.seconds, without)

    def rate(self, without: int | None = None) -> Floats:
        """(s,) calls per second, perhaps without one block."""
        return self._rate(self.calls, without)

    def rows(self, chosen: Sequence[int]) -> SideRates:
        """Some of the statements."""
        places = list(chosen)
        return SideRates(
            self.calls[places], self.seconds[places], self.observed[places]
        )

    @property
    def filled(self) -> tuple[int, ...]:
        """Blocks in which anything was observed."""
        return tuple(np.flatnonzero(self.observed.any(axis=0)).tolist())

    def _rate(self, sums: Floats, without: int | None) -> Floats:
        kept = np.ones(sums.shape[1], dtype=bool)
        if without is not None:
            kept[without] = False
        added, time = sums[:, kept].sum(axis=1), self.observed[:, kept].sum(axis=1)
        rate: Floats = np.divide(added, time, out=np.zeros(len(sums)), where=time > 0)
        return rate


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Both sides of s statements of one server."""

    keys: tuple[QueryKey, ...]
    before: SideRates
    after: SideRates

    @property
    def server(self) -> str:
        return self.keys[0].instance

    def usage(self, row: int) -> tuple[Usage, Usage]:
        """Before and after of one statement."""
        return _usage(self.before, row), _usage(self.after, row)


def _usage(side: SideRates, row: int) -> Usage:
    time = side.observed[row].sum()
    if time <= 0:
        return Usage(0.0, 0.0)
    return Usage(
        float(side.calls[row].sum() / time), float(side.seconds[row].sum() / time)
    )


def rates_of(batch: Batch, at: float, end: float, settings: Settings) -> Rates:
    """Both sides of every statement in *batch*.

    Args:
        at, end: the deploy and the end of what is looked at, Unix seconds.
    """
    window = batch.between(at - settings.window, end)
    m = max(window.times.size - 1, 0)
    parts = []
    for rows in blocks(len(batch.keys), m):
        part = window.rows(rows)
        spans = intervals(part, max_gap=settings.max_gap)
        spent = _observed(spans, part.present, settings.max_gap)
        parts.append(
            (
                _side(spans, spent, at - settings.window, at, before=True),
                _side(spans, spent, at, end, before=False),
            )
        )
    return Rates(
        batch.keys,
        concatenated([before for before, _ in parts]),
        concatenated([after for _, after in parts]),
    )


def _observed(spans: Intervals, present: Flags, max_gap: float) -> Floats:
    """(s, m) seconds that each interval observed; 0 where it says nothing."""
    known = (spans.kinds == USABLE) | (spans.kinds == IDLE)
    lasted = np.where(known, spans.ends - spans.starts(), 0.0)
    if present.all() or not spans.ends.size:
        return lasted
    # Scrapes of the server before the entry was made, and after it had gone.
    places = np.arange(1, present.shape[1])
    there = present.any(axis=1)
    first = np.where(there, present.argmax(axis=1), present.shape[1])
    last = np.where(there, present.shape[1] - 1 - present[:, ::-1].argmax(axis=1), -1)
    outside = (places < first[:, None]) | (places > last[:, None])
    outside &= spans.kinds == ABSENT
    plain = np.diff(spans.times)
    zero = np.where(plain <= max_gap, plain, 0.0)
    return np.where(outside, zero, lasted)


def _side(
    spans: Intervals, observed: Floats, start: float, end: float, *, before: bool
) -> SideRates:
    """Sums over the intervals between *start* and *end*, Unix seconds."""
    if before:
        inside = np.broadcast_to(spans.ends <= end, observed.shape)
    else:
        # Where an entry is absent, the stretch since the scrape before counts.
        began = np.where(spans.kinds == ABSENT, spans.times[:-1], spans.starts())
        inside = began >= start
    length = max(end - start, 1.0) / _BLOCKS
    middle = (spans.times[:-1] + spans.times[1:]) / 2.0
    block = np.clip(((middle - start) // length).astype(int), 0, _BLOCKS - 1)
    member = (block[:, None] == np.arange(_BLOCKS)).astype(np.float64)
    usable = spans.usable & inside
    return SideRates(
        calls=np.where(usable, spans.calls, 0.0) @ member,
        seconds=np.where(usable, spans.seconds, 0.0) @ member,
        observed=np.where(inside, observed, 0.0) @ member,
    )
