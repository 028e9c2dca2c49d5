"""Whether a change may have happened at the deploy, also where nobody saw it happen.

A split is found between two intervals, e the end of the left one and s the start of the
right one. With a scrape for every interval both are the same moment. Where scrapes are
missing, or nothing ran, the change may have happened at any moment from e to s, so it
is near when some moment of it is:

    s ≥ deploy − tolerance  and  e ≤ deploy + tolerance
"""

from __future__ import annotations

import numpy as np

from ...model import Flags, Floats, Places


def near(begins: Floats, seen_until: Floats, *, at: float, tolerance: float) -> Flags:
    """Whether the change may lie at most *tolerance* from the deploy.

    Asked before the significance test, so that a strong change elsewhere in the window
    is never blamed on the deploy.

    Args:
        begins: (k,) start of the right segment, Unix seconds.
        seen_until: (k,) end of the left segment.
        at: time of the deploy.
        tolerance: seconds.
    """
    inside: Flags = (begins >= at - tolerance) & (seen_until <= at + tolerance)
    return inside


def ends_before(columns: Places, present: Flags, ends: Floats) -> Floats:
    """(k,) end of the last interval that is present before a column.

    Args:
        columns: (k,) first of the right segment; something is present before it.
        present: (k, n) which intervals there are.
        ends: (n,) of the intervals, Unix seconds.
    """
    last = columns - 1
    if not present.all():
        left = present & (np.arange(present.shape[1]) < columns[:, None])
        last = present.shape[1] - 1 - left[:, ::-1].argmax(axis=1)
    before: Floats = ends[last]
    return before


def hides_changes(
    present: Flags, starts: Floats, ends: Floats, *, at: float, tolerance: float
) -> Flags:
    """(k,) whether a split later than the tolerance would count as near.

    Args:
        present: (k, n) which intervals there are.
        starts, ends: (n,) Unix seconds.
    """
    first_late = int(starts.searchsorted(at + tolerance, side="right"))
    if first_late in (0, starts.size):
        return np.zeros(len(present), dtype=bool)
    if present.all():
        return np.full(len(present), bool(ends[first_late - 1] <= at + tolerance))
    late = present[:, first_late:]
    columns = first_late + late.argmax(axis=1)
    early = present[:, :first_late].any(axis=1)
    hidden: Flags = (
        early
        & late.any(axis=1)
        & (ends_before(columns, present, ends) <= at + tolerance)
    )
    return hidden
