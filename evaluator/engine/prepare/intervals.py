"""Counters → what happened between scrapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model import Batch, Flags, Floats, QueryIntervals

# What became of the interval that ends at a scrape, in the order in which it is asked.
ABSENT, USABLE, RESET, GAP, IDLE = range(5)

# A sum of squares loses to rounding what many larger ones before it had, relative to
# the counters at the end of the interval; what is left must be a hundred times as much.
_ROUNDING = 100 * 4 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """What s queries did between consecutive scrapes of a batch with m + 1 scrapes.

    Column j is the interval that ends at scrape j + 1. It begins at the scrape before,
    or earlier where that one is missing.

    Args:
        times: (m + 1,) of the scrapes, Unix seconds.
        lags: (s, m) how many scrapes back the interval begins; 1 unless some are
            missing.
        usable: (s, m) intervals that can be trusted.
        kinds: (s, m) USABLE, or why not: ABSENT (the scrape is missing, or nothing came
            before it), RESET, GAP, IDLE.
        calls, seconds: (s, m) what the interval added.
        further: (s, m) what it added to further columns, NaN where unknown.
    """

    times: Floats
    lags: NDArray[np.int32]
    usable: Flags
    kinds: NDArray[np.int8]
    calls: Floats
    seconds: Floats
    further: Mapping[str, Floats]

    @property
    def ends(self) -> Floats:
        """(m,) Unix seconds."""
        return self.times[1:]

    def starts(self, columns: slice = slice(None)) -> Floats:
        """(s, columns) Unix seconds; where the kind is ABSENT of no meaning."""
        return starts(self.times, self.lags, columns)

    def from_scrape(self, first: int) -> Intervals:
        """Those that lie between the scrapes from *first* on; nothing is copied."""
        usable, kinds = self.usable[:, first:], self.kinds[:, first:]
        lags = self.lags[:, first:]
        if first and lags.strides[1]:
            early = lags > np.arange(1, lags.shape[1] + 1)
            usable = usable & ~early
            kinds = np.where(early, np.int8(ABSENT), kinds)
            lags = np.where(early, np.int32(1), lags)
        return Intervals(
            self.times[first:],
            lags,
            usable,
            kinds,
            self.calls[:, first:],
            self.seconds[:, first:],
            {name: one[:, first:] for name, one in self.further.items()},
        )


def starts(
    times: Floats, lags: NDArray[np.int32], columns: slice = slice(None)
) -> Floats:
    """(s, columns) when the intervals begin; see :class:`Intervals`."""
    ends = np.arange(1, times.size)[columns]
    chosen = lags[:, columns]
    if lags.strides[1] == 0:  # All of them are 1.
        return np.broadcast_to(times[ends - 1], chosen.shape)
    begins: Floats = times[ends - chosen]
    return begins


def intervals(batch: Batch, *, max_gap: float) -> Intervals:
    """Subtract neighbouring scrapes of every query.

    Three kinds of interval say nothing and are dropped, never repaired: a counter fell,
    the entry was made anew or another server answered (RESET), too many scrapes are
    missing or a counter is not a finite number (GAP), nothing ran (IDLE). An interval
    that is several of these counts as the first.

    Args:
        batch: s queries at n scrapes.
        max_gap: longest interval to trust, seconds.

    Raises:
        ValueError: *max_gap* is not positive.

    References:
        PostgreSQL documentation, pg_stat_statements: an entry's counters restart at
        zero after a reset or an eviction; ``stats_since`` (17+) tells when.
    """
    if not max_gap > 0:
        raise ValueError(f"max_gap must be positive, got {max_gap}")
    present = batch.present
    s, m = len(batch.keys), max(batch.times.size - 1, 0)
    with np.errstate(invalid="ignore"):  # inf − inf
        if present.all():
            lags = np.broadcast_to(np.int32(1), (s, m))
            begins = np.broadcast_to(batch.times[:-1], (s, m))
            ended: Flags | None = None
            added = {name: np.diff(one) for name, one in batch.columns.items()}
        else:
            earlier = _earlier(present)
            ended = present[:, 1:] & (earlier >= 0)
            np.maximum(earlier, 0, out=earlier)
            begins = batch.times[earlier]
            lags = (np.arange(1, m + 1) - earlier).astype(np.int32)
            added = {
                name: one[:, 1:] - np.take_along_axis(one, earlier, axis=1)
                for name, one in batch.columns.items()
            }
    calls, seconds = added.pop("calls"), added.pop("seconds")
    anew = _anew(batch, lags, added.pop("since", None))
    usable, kinds = _kinds(batch, begins, calls, seconds, anew, max_gap)
    if ended is not None:
        kinds[~ended] = ABSENT
        usable &= ended
    if "squares" in added:
        so_far = batch.seconds[:, 1:], batch.columns["squares"][:, 1:]
        added["dispersion"] = _dispersion(calls, seconds, added.pop("squares"), *so_far)
    return Intervals(batch.times, lags, usable, kinds, calls, seconds, added)


def usable_intervals(batch: Batch, *, max_gap: float) -> list[QueryIntervals]:
    """The usable intervals of every query by itself, in the order of the keys."""
    whole = intervals(batch, max_gap=max_gap)
    begins, usable = whole.starts(), whole.usable
    return [
        QueryIntervals(
            key,
            begins[row, kept],
            whole.ends[kept],
            whole.calls[row, kept],
            whole.seconds[row, kept],
        )
        for row, (key, kept) in enumerate(zip(batch.keys, usable, strict=True))
    ]


def _earlier(present: Flags) -> NDArray[np.intp]:
    """(s, n − 1) for each scrape but the first the last one before it, or −1."""
    places = np.where(present[:, :-1], np.arange(present.shape[1] - 1), -1)
    return np.maximum.accumulate(places, axis=1)


def _anew(batch: Batch, lags: NDArray[np.int32], since: Floats | None) -> Flags | None:
    """(s, m) or (m,) where counters began anew, or are those of another server.

    What is unknown at either end (NaN) cannot show a restart.

    Args:
        since: what each interval added to the time at which the entry was made.

    Returns:
        None where it is never.
    """
    anew: Flags | None = None
    with np.errstate(invalid="ignore"):
        if since is not None:
            anew = np.abs(since) > 0
        if batch.identity is not None:
            ends = np.arange(1, batch.times.size)
            begins = ends - (1 if lags.strides[1] == 0 else lags)
            other = np.abs(batch.identity[ends] - batch.identity[begins]) > 0
            if other.any():
                anew = other if anew is None else anew | other
    return anew


def _kinds(
    batch: Batch,
    begins: Floats,
    calls: Floats,
    seconds: Floats,
    anew: Flags | None,
    max_gap: float,
) -> tuple[Flags, NDArray[np.int8]]:
    """(s, m) usable ones, and the kinds of all, as if none were absent."""
    # Most intervals are good: first those with calls and time, then why not.
    with np.errstate(invalid="ignore"):
        good = (calls > 0) & (calls < np.inf) & (seconds >= 0) & (seconds < np.inf)
        good &= batch.times[1:] - begins <= max_gap
        if anew is not None:
            good &= ~anew
    kinds = good.astype(np.int8)
    if good.all():
        return good, kinds
    with np.errstate(invalid="ignore"):
        reset = (calls < 0) | (seconds < 0)
    if anew is not None:
        reset |= anew
    unknown = ~(np.isfinite(calls) & np.isfinite(seconds))
    gap = unknown | (batch.times[1:] - begins > max_gap)
    kinds[~good] = np.where(reset, RESET, np.where(gap, GAP, IDLE))[~good]
    return good, kinds


def _dispersion(
    calls: Floats, seconds: Floats, squares: Floats, time: Floats, squared: Floats
) -> Floats:
    """Squared distances of the calls from their mean, summed; NaN where unknown.

    One call has none; and what rounding may have made says nothing.

    Args:
        calls, seconds, squares: what the intervals added.
        time, squared: seconds and squares so far, at their ends.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = seconds / calls
        within = squares - seconds * mean
        known = within > _ROUNDING * (squared + 2.0 * mean * time)
    return np.where(known & (calls > 1), within, np.nan)
