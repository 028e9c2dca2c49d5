"""The usable intervals of one query, as people look at them."""

from __future__ import annotations

from dataclasses import dataclass

from .batch import Floats, QueryKey


@dataclass(frozen=True, slots=True, eq=False)
class QueryIntervals:
    """What one query did between consecutive scrapes, m intervals in time order.

    Args:
        starts, ends: (m,) Unix seconds.
        calls: (m,) executions in the interval, above 0.
        seconds: (m,) execution time in the interval.
    """

    key: QueryKey
    starts: Floats
    ends: Floats
    calls: Floats
    seconds: Floats

    @property
    def means(self) -> Floats:
        """(m,) seconds per call."""
        means: Floats = self.seconds / self.calls
        return means
