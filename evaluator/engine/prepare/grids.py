"""Which queries were scraped together, so that their intervals can be compared."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...model import Flags, Places

# Share of a query's intervals that must be intervals of the others, too. A query that
# missed a scrape now and then has a few longer ones.
_COMMON = 0.8


def same_grids(usable: Flags, lags: NDArray[np.int32]) -> Iterator[Places]:
    """Group the queries of one server by their scrapes.

    The scrapes of one server store all its queries at the same instants. A server that
    is scraped twice, or whose scrape interval was changed for some metrics, has several
    grids; side by side in one panel their intervals would not be what they seem.

    Args:
        usable: (s, m) which intervals of the union of all scrapes a query has.
        lags: (s, m) how many scrapes back each of them begins.

    Yields:
        Rows in ascending order, every row once: first the grid of the query with the
        most intervals, and so on.
    """
    counts = np.count_nonzero(usable, axis=1)
    waiting = np.arange(len(usable))
    while waiting.size:
        founder = waiting[np.argmax(counts[waiting])]
        known = _Known(usable, lags, founder)
        members = np.zeros(0, dtype=np.intp)
        while True:
            common = known.count(waiting)
            joins = (common >= _COMMON * counts[waiting]) | (waiting == founder)
            if not joins.any():
                break
            known.add(waiting[joins])
            members = np.concatenate([members, waiting[joins]])
            waiting = waiting[~joins]
        yield np.sort(members)


class _Known:
    """The intervals that the members of one grid have, by lag and end."""

    def __init__(self, usable: Flags, lags: NDArray[np.int32], founder: int) -> None:
        self._usable, self._lags = usable, lags
        # Without a missing scrape all lags are the same 1, repeated without memory.
        self._plain = lags.strides[1] == 0
        longest = 1 if self._plain else int(lags.max(initial=1))
        self._seen = np.zeros((longest, usable.shape[1]), dtype=bool)
        self._columns = np.arange(usable.shape[1])
        self.add(np.array([founder]))

    def add(self, rows: Places) -> None:
        if self._plain:
            self._seen[0] |= self._usable[rows].any(axis=0)
            return
        for row in rows:
            self._seen[self._lags[row] - 1, self._columns] |= self._usable[row]

    def count(self, rows: Places) -> Places:
        """(rows,) how many of their intervals are known."""
        if self._plain:
            known: Places = np.count_nonzero(self._usable[rows] & self._seen[0], axis=1)
            return known
        return np.array(
            [
                np.count_nonzero(
                    self._usable[row] & self._seen[self._lags[row] - 1, self._columns]
                )
                for row in rows
            ],
            dtype=np.intp,
        )
