"""What kept statements from being measured: resets, evictions, cuts, missing texts."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from ...model import Batch, Flags, MeasureErrors, QueryKey, Settings
from ..prepare.intervals import RESET, intervals

# Part of the statements that lose their counters at once in a reset of all.
_MOST = 0.5
# Part of the scrapes that a statement has in spite of holes.
_RHYTHM = 2.0 / 3.0
# A series that ends so many scrapes before the last one has ended.
_ENDED = 2


def measure_errors(
    batch: Batch,
    new: Flags,
    with_text: Set[QueryKey],
    start: float,
    end: float,
    settings: Settings,
) -> MeasureErrors:
    """Count what went wrong on one server.

    Args:
        new: (q,) statements first seen since the deploy.
        with_text: statements whose text or fingerprint is known.
        start, end: both windows, Unix seconds.
    """
    window = batch.between(start, end)
    present = window.present
    seen: Flags = np.any(present, axis=1)
    # What lineage joined fell at its seam, by no fault of the measure.
    own = seen & np.array([key not in batch.replaces for key in batch.keys])
    reset_at, reset, evicted = None, 0, 0
    if window.times.size > 1:
        fell = intervals(window, max_gap=settings.max_gap).kinds == RESET
        fell &= own[:, None]
        together = np.count_nonzero(fell, axis=0)
        there = np.maximum(np.count_nonzero(present[own, 1:], axis=0), 1)
        at_once = (together >= _MOST * there) & (together > 1)
        if at_once.any():
            place = int(at_once.argmax())
            reset_at, reset = float(window.times[1 + place]), int(together[place])
        evicted = int(np.count_nonzero((fell & ~at_once).any(axis=1)))
    return MeasureErrors(
        server=batch.server,
        reset_at=reset_at,
        reset=reset,
        evicted=evicted,
        cut=_cut(batch.between(start, end)),
        without_text=_without_text(batch, new, with_text),
        statements=int(np.count_nonzero(seen)),
    )


def _without_text(batch: Batch, new: Flags, with_text: Set[QueryKey]) -> int:
    """New statements without a text, where others have one."""
    if not any(key in with_text for key in batch.keys):
        return 0
    return sum(batch.keys[row] not in with_text for row in np.flatnonzero(new).tolist())


def _cut(window: Batch) -> int:
    """Statements whose series has holes or ended, where others' have and do not."""
    present = window.present
    if not present.any():
        return 0
    # Scrapes that stored most of what there is; a failed one stores nothing.
    full = present.sum(axis=0) * 2 > np.median(present.sum(axis=0))
    kept = present[:, full]
    there = kept.any(axis=1)
    first = kept.argmax(axis=1)
    last = kept.shape[1] - 1 - kept[:, ::-1].argmax(axis=1)
    count, whole = np.count_nonzero(kept, axis=1), last - first + 1
    # With more missing, a statement is scraped in another rhythm than most.
    holes = (count < whole) & (count >= _RHYTHM * whole)
    ended = last < kept.shape[1] - _ENDED
    return int(np.count_nonzero(there & (holes | ended)))
