"""A statement whose query id changed at the deploy is followed as one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...model import Batch, Floats, QueryKey


@dataclass(frozen=True, slots=True)
class _Successor:
    """Rows of the old and the new id, and the first scrape that belongs to the new."""

    old: int
    new: int
    seam: int


def follow(
    batch: Batch, fingerprints: Mapping[QueryKey, str], *, at: float, tolerance: float
) -> Batch:
    """Join the counters of a statement before and after its query id changed.

    The old entry stays in pg_stat_statements, so "ends" means that its calls stop
    rising, and "begins" that an entry appears or its calls start to rise. Both must
    happen near the deploy; they may overlap, since processes that are replaced one by
    one call both ids for a while. Only one old and one new id of the same statement on
    the same database, user and level are joined; with more of them nobody knows which
    followed which.

    Args:
        batch: history before the windows may be in it.
        fingerprints: of the queries whose statement is known.
        at: time of the deploy, Unix seconds.
        tolerance: how far from it an id may end or begin, seconds.

    Returns:
        Joined queries under the new key with ``replaces`` set, the old keys gone. Their
        counters fall at the seam, so that its interval is dropped as a reset. The batch
        itself where nothing is joined.
    """
    successors = list(_successors(batch, fingerprints, at, tolerance))
    if not successors:
        return batch
    gone = {pair.old for pair in successors}
    kept = [row for row in range(len(batch.keys)) if row not in gone]
    place = {row: number for number, row in enumerate(kept)}
    joined = batch.rows(kept)
    for pair in successors:
        for name, column in joined.columns.items():
            new, old = column[place[pair.new]], batch.columns[name][pair.old]
            if name in ("calls", "seconds"):
                # Counted from the seam on, so that it cannot pass for the old one's.
                new[pair.seam :] -= new[pair.seam]
            new[: pair.seam] = old[: pair.seam]
    replaces = {
        batch.keys[pair.new]: batch.keys[pair.old].queryid for pair in successors
    }
    return replace(joined, replaces={**batch.replaces, **replaces})


def _successors(
    batch: Batch, fingerprints: Mapping[QueryKey, str], at: float, tolerance: float
) -> Iterator[_Successor]:
    """The pairs of ids that follow one another at the deploy."""
    same: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, key in enumerate(batch.keys):
        if fingerprint := fingerprints.get(key):
            same[key.database, key.user, key.toplevel, fingerprint].append(row)
    families = [rows for rows in same.values() if len(rows) > 1]
    if not families:
        return
    oldest = _oldest(batch)
    for rows in families:
        old, new = [], []
        for row in rows:
            used = _used(batch.calls[row], oldest)
            if used is None:
                continue
            first, last = batch.times[used[0]], batch.times[used[1]]
            if first < at - tolerance and abs(last - at) <= tolerance:
                old.append(row)
            if abs(first - at) <= tolerance:
                new.append((row, used[0]))
        if len(old) == len(new) == 1:
            yield _Successor(old[0], *new[0])


def _oldest(batch: Batch) -> int:
    """The first scrape that stored an entry which a later scrape stored, too."""
    lasting = batch.present[np.count_nonzero(batch.present, axis=1) > 1]
    return int(lasting.any(axis=0).argmax()) if lasting.size else 0


def _used(calls: Floats, oldest: int) -> tuple[int, int] | None:
    """The scrapes between which the id was called; None if it never was.

    Args:
        oldest: first scrape of the server; an entry that is younger was made by a call.
    """
    stored = np.flatnonzero(~np.isnan(calls))
    rises = np.flatnonzero(np.diff(calls[stored]) > 0)
    if not rises.size:
        return None
    first = 0 if stored[0] > oldest else rises[0]
    return int(stored[first]), int(stored[rises[-1] + 1])
