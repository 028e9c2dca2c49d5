"""A batch as every detector starts from it: both sides of the deploy, and the history.

Queries are worked through in blocks that stay in the processor's cache; only what a
later step asks for is kept, so that memory is a few arrays whatever the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model import Batch, Flags, Floats, Places, QueryKey, Settings
from ..stats.blocks import blocks, concatenated
from .intervals import GAP, IDLE, RESET, Intervals, intervals, starts
from .windows import Side, both_sides, rise_matters


@dataclass(frozen=True, slots=True, eq=False)
class Dropped:
    """(q,) how many intervals of each query say nothing, by reason."""

    reset: Places
    gap: Places
    idle: Places


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """q queries of one server, of which s are past the floors.

    Args:
        keys: q, ascending.
        replaces: query id that a statement had before, by key.
        times: (m + 1,) of the scrapes, history included, Unix seconds.
        first: interval that the window begins with.
        usable: (q,) intervals inside the window; ``dropped`` those that were not, by
            reason.
        before, after: sums over both sides.
        unused_seconds: (q,) execution time after the deploy in intervals too long to
            be used.
        factor: (q,) mean after / mean before; NaN below the floors.
        rows: (s,) which queries are past the floors.
        risen: (s,) which of them pass the pre-filter, too.
        means, calls: (s, m) seconds per call, executions; 0 where not usable.
        lags: (s, m) how many scrapes back each interval begins.
        dispersion: (s, m) squared distances of the calls from the mean of their
            interval, summed, square seconds; NaN where unknown, None without any.
    """

    keys: tuple[QueryKey, ...]
    replaces: Mapping[QueryKey, str]
    times: Floats
    first: int
    usable: Places
    dropped: Dropped
    before: Side
    after: Side
    unused_seconds: Floats
    factor: Floats
    rows: Places
    risen: Flags
    means: Floats
    calls: Floats
    lags: NDArray[np.int32]
    dispersion: Floats | None

    @property
    def server(self) -> str:
        """The instance of the queries."""
        return self.keys[0].instance

    def window_of(self, chosen: Flags) -> tuple[Floats, Flags, Floats]:
        """Means, which of them there are, and starts inside the window.

        Args:
            chosen: (s,) k queries past the floors.

        Returns:
            Three arrays (k, n); starts in Unix seconds, of no meaning where nothing is.
        """
        window = slice(self.first, None)
        rows = slice(None) if chosen.all() else np.flatnonzero(chosen)
        means, calls = self.means[rows][:, window], self.calls[rows][:, window]
        lags = self.lags[rows][:, window]
        present = (calls > 0) & (lags <= np.arange(1, lags.shape[1] + 1))
        if lags.strides[1]:
            lags = np.where(present, lags, np.int32(1))
        return means, present, starts(self.times[self.first :], lags)


def prepare(
    batch: Batch, at: float, end: float, settings: Settings, *, history: float
) -> Prepared:
    """Subtract, sum up and compare.

    Args:
        batch: samples outside the times asked for are ignored.
        at, end: the deploy and the end of what is looked at, Unix seconds.
        history: how long before the deploy to begin at the latest, seconds.
    """
    start = at - settings.window
    whole = batch.between(min(start, at - history), end)
    first = whole.times.size - batch.between(start, end).times.size
    q, m = len(batch.keys), max(whole.times.size - 1, 0)
    kept = _Kept(q, m, dispersion="squares" in whole.columns)
    parts = []
    for block in blocks(q, m):
        spans = intervals(whole.rows(block), max_gap=settings.max_gap)
        part = _summary(spans.from_scrape(first), at, settings)
        kept.add(spans, np.flatnonzero(part.enough))
        parts.append(part)
    summary = concatenated(parts)
    rows = np.flatnonzero(summary.enough)
    return Prepared(
        keys=batch.keys,
        replaces=batch.replaces,
        times=whole.times,
        first=first,
        usable=summary.usable,
        dropped=summary.dropped,
        before=summary.before,
        after=summary.after,
        unused_seconds=summary.unused_seconds,
        factor=summary.factor,
        rows=rows,
        risen=rise_matters(summary.factor[rows], settings.threshold),
        means=kept.means[: rows.size],
        calls=kept.calls[: rows.size],
        lags=kept.lags[: rows.size],
        dispersion=None if kept.dispersion is None else kept.dispersion[: rows.size],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Summary:
    """Of some of the queries, each (s,) as in Prepared; *enough* says past floors."""

    usable: Places
    dropped: Dropped
    before: Side
    after: Side
    unused_seconds: Floats
    factor: Floats
    enough: Flags


def _summary(window: Intervals, at: float, settings: Settings) -> _Summary:
    before, after = both_sides(window, at)
    mean_before = before.mean
    enough = mean_before > 0
    for side in (before, after):
        enough &= side.enough(settings.min_samples, settings.min_calls)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(enough, after.mean / mean_before, np.nan)
    usable = np.count_nonzero(window.usable, axis=1)
    if usable.size and usable.min() == window.kinds.shape[1]:
        nothing = np.zeros(usable.shape, dtype=np.intp)
        dropped = Dropped(nothing, nothing, nothing)
        unused = np.zeros(usable.shape)
    else:
        unused = _unused_seconds(window, at)
        dropped = Dropped(
            *(
                np.count_nonzero(window.kinds == kind, axis=1)
                for kind in (RESET, GAP, IDLE)
            )
        )
    return _Summary(usable, dropped, before, after, unused, factor, enough)


def _unused_seconds(window: Intervals, at: float) -> Floats:
    """(q,) of the intervals that ended after the deploy, the one across it included."""
    late = slice(int(window.ends.searchsorted(at, side="right")), None)
    seconds = window.seconds[:, late]
    counted = (window.kinds[:, late] == GAP) & np.isfinite(seconds)
    unused: Floats = np.where(counted, seconds, 0.0).sum(axis=1)
    return unused


class _Kept:
    """Fills the arrays of a Prepared, block by block; rows never filled are free."""

    def __init__(self, q: int, m: int, *, dispersion: bool) -> None:
        self.means, self.calls = np.empty((q, m)), np.empty((q, m))
        self.lags = np.broadcast_to(np.int32(1), (q, m))
        self.dispersion = np.empty((q, m)) if dispersion else None
        self._filled = 0

    def add(self, spans: Intervals, rows: Places) -> None:
        """Append those *rows* of *spans*."""
        target = slice(self._filled, self._filled + rows.size)
        self._filled = target.stop
        chosen = slice(None) if rows.size == len(spans.kinds) else rows
        usable = spans.usable[chosen]
        calls = spans.calls[chosen]
        if usable.all():
            self.calls[target] = calls
            np.divide(spans.seconds[chosen], calls, out=self.means[target])
        else:
            self.calls[target] = np.where(usable, calls, 0.0)
            self.means[target] = 0.0
            np.divide(
                spans.seconds[chosen], calls, out=self.means[target], where=usable
            )
        if spans.lags.strides[1]:
            if not self.lags.flags.writeable:
                self.lags = self.lags.copy()
            self.lags[target] = spans.lags[chosen]
        if self.dispersion is not None:
            self.dispersion[target] = np.where(
                usable, spans.further["dispersion"][chosen], np.nan
            )
