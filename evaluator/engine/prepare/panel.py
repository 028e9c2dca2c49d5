"""Queries that were scraped together → one grid of intervals with the deploy in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import Flags, Floats, Panel, Places
from .grids import same_grids
from .intervals import starts
from .prepared import Prepared


def panels(
    prepared: Prepared, chosen: Flags, *, at: float, window: float
) -> Iterator[tuple[Places, Panel]]:
    """Some queries past the floors, those that were scraped together side by side.

    Intervals with the same end are the same interval; where a query missed a scrape,
    its longer interval stands at its end.

    Args:
        chosen: (s,) which; the others change nothing.
        at: time of the deploy, Unix seconds.
        window: length of each side, seconds.

    Yields:
        Rows of the prepared arrays, and their panel.

    Raises:
        ValueError: one side of the deploy is empty, which the floors exclude.
    """
    those = slice(None) if chosen.all() else np.flatnonzero(chosen)
    place = np.flatnonzero(chosen)
    usable, all_lags = prepared.calls[those] > 0, _lags_of(prepared.lags, those)
    for group in same_grids(usable, all_lags):
        members = place[group]
        all_of_them = members.size == len(prepared.rows)
        rows = slice(None) if all_of_them else members
        known, lags = usable[group], _lags_of(all_lags, group)
        columns = _chosen(np.any(known, axis=0))
        begins = _latest_starts(prepared.times, known, lags)[columns]
        ends = prepared.times[1:][columns]
        before = int(np.searchsorted(ends, at, side="right"))
        after = int(np.searchsorted(begins, at, side="left"))
        calls = prepared.calls[rows][:, columns]
        if lags.strides[1]:
            across = _across(prepared.times, known, lags, at)[:, columns]
            # What stands left of *after* is on neither side anyway.
            across[:, :after] = False
            calls = np.where(across, 0.0, calls)
        dispersion = prepared.dispersion
        yield (
            members,
            Panel(
                starts=begins,
                ends=ends,
                means=prepared.means[rows][:, columns],
                calls=calls,
                before=before,
                after=after,
                window=int(np.count_nonzero(begins[:before] >= at - window)),
                dispersion=None if dispersion is None else dispersion[rows][:, columns],
            ),
        )


def _lags_of(lags: NDArray[np.int32], rows: slice | Places) -> NDArray[np.int32]:
    """Those rows; lags of 1 everywhere stay one number that is repeated."""
    if lags.strides[1] == 0 and not isinstance(rows, slice):
        return np.broadcast_to(np.int32(1), (rows.size, lags.shape[1]))
    return lags[rows]


def _chosen(columns: NDArray[Any]) -> slice | Places:
    """All columns without a copy, or those that are wanted."""
    return slice(None) if columns.all() else np.flatnonzero(columns)


def _latest_starts(times: Floats, known: Flags, lags: NDArray[np.int32]) -> Floats:
    """(m,) the latest start is that of the plain interval; an earlier skipped a scrape.

    Of no meaning where no query has the interval.
    """
    if lags.strides[1] == 0:
        return times[:-1]
    ends = np.arange(1, times.size)
    shortest = np.where(known, lags, ends.astype(np.int32)).min(axis=0)
    latest: Floats = times[ends - shortest]
    return latest


def _across(times: Floats, known: Flags, lags: NDArray[np.int32], at: float) -> Flags:
    """(s, m) intervals that begin before the deploy and end after it."""
    return known & (starts(times, lags) < at) & (times[1:] > at)
