"""A long period read in short chunks, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..errors import IncompleteDataError, NoDataError
from ..model import Batch, QueryKey, join
from ..sources.readings import Reading
from ..units import show_time

# Longest chunk that is read at once, seconds.
_CHUNK = 3600.0
# Prometheus keeps whole milliseconds: the next chunk begins one after the last.
_NEXT = 0.001
_JUDGED_BY = ("calls", "seconds", "since", "squares")


class RollingCounters:
    """Moves forward through the counters; every sample is read once.

    Args:
        read: the counters between two moments, Unix seconds.
        start: nothing before it is ever read, Unix seconds.
    """

    def __init__(self, read: Callable[[float, float], Reading], start: float) -> None:
        self._read = read
        self._until = start
        self._held: tuple[Batch, ...] = ()
        self.seen: set[QueryKey] = set()

    def between(self, start: float, end: float) -> tuple[Batch, ...]:
        """Counters of the queries with samples between two moments.

        Args:
            start: not before that of an earlier call; what is older is forgotten.

        Raises:
            SourceError: the counters could not be read.
            IncompleteDataError: the source reports that its answer is partial.
        """
        self._until = max(self._until, start)
        parts = list(self._held)
        while self._until < end:
            until = min(end, self._until + _CHUNK)
            parts += self._chunk(self._until, until)
            self._until = until + _NEXT
        self._held = tuple(
            batch for batch in map(_stored, _joined_from(parts, start)) if batch.keys
        )
        return self._held

    def _chunk(self, start: float, end: float) -> Iterator[Batch]:
        try:
            reading = self._read(start, end)
        except NoDataError:
            # Nothing was scraped then, or it is not kept any more.
            return
        if reading.quality.warnings:
            raise IncompleteDataError(
                f"the counters from {show_time(start)} to {show_time(end)} are "
                f"partial, so nothing is concluded from them: "
                f"{'; '.join(reading.quality.warnings)}"
            )
        for batch in map(_stored, reading.batches):
            self.seen.update(batch.keys)
            yield _needed(batch)


def _joined_from(parts: Sequence[Batch], start: float) -> tuple[Batch, ...]:
    """As one for each server, what is older than *start* forgotten."""
    return join([batch.between(start, np.inf) for batch in parts])


def _needed(batch: Batch) -> Batch:
    """The columns that an engine judges by; the others only explain."""
    kept = {
        name: column for name, column in batch.columns.items() if name in _JUDGED_BY
    }
    return replace(batch, columns=kept)


def _stored(batch: Batch) -> Batch:
    """The queries with any sample."""
    has_any = batch.present.any(axis=1)
    return batch if has_any.all() else batch.rows(np.flatnonzero(has_any))
