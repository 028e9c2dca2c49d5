"""A recording in which some queries got slower, for the power under real noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluator.model import Batch
from evaluator.sources.readings import Reading

# Every so many queries one is slowed, by half.
ONE_IN, FACTOR = 10, 1.5


def slowed(reading: Reading, queryids: Sequence[str], at: float) -> Reading:
    """The same, but what these queries did since *at* took half as long again.

    The sums of squares grow with the square of that.
    """
    batches = tuple(_slowed(batch, set(queryids), at) for batch in reading.batches)
    return replace(reading, batches=batches)


def _slowed(batch: Batch, queryids: set[str], at: float) -> Batch:
    chosen = [row for row, key in enumerate(batch.keys) if key.queryid in queryids]
    since = int(np.searchsorted(batch.times, at, side="right"))
    columns = dict(batch.columns)
    for name, power in (("seconds", 1), ("squares", 2)):
        if name in columns and 0 < since < batch.times.size:
            changed = columns[name].copy()
            before = changed[chosen, since - 1 : since]
            added = changed[chosen, since:] - before
            changed[chosen, since:] = before + FACTOR**power * added
            columns[name] = changed
    return replace(batch, columns=columns)
