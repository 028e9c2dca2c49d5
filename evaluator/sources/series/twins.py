"""The same statements of one server, shown by two exporters (pure).

Two exporters in front of one PostgreSQL, or one that is scraped by two jobs: each
statement would be judged, and alert, twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...model import Batch, Floats, Places
from ..api import matcher
from .succession import preference

# Statements that are compared at most, those with the most calls.
_COMPARED = 50
# Share of the statements of the smaller that both must have, share of those compared
# that must be the same, and share of the scrapes at which one is.
_COMMON, _SAME, _SCRAPES = 0.5, 0.8, 0.9
# How many labels a note names.
_NAMED = 2
# Digits that a storage loses, relative to the counter.
_LOST = 1e-9


@dataclass(frozen=True, slots=True)
class Origin:
    """What a series came by, apart from its query.

    Args:
        labels: of the newest series.
        last: its last sample, Unix seconds.
        declared: values of the labels that, by the configuration, name a server beside
            its address; servers that differ in them are different ones.
    """

    labels: Mapping[str, str]
    last: float
    declared: tuple[str, ...] = ()


# By server, and whether its statements say whether they were called directly.
Origins = Mapping[tuple[str, bool], Origin]


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The statements of one batch that came the same way."""

    batch: Batch
    rows: Places
    by_level: bool

    @property
    def place(self) -> tuple[str, bool]:
        return self.batch.server, self.by_level

    @property
    def worth(self) -> tuple[int, bool, int, int]:
        """How much is known by it; more is better."""
        columns = sum(bool(np.isfinite(c[self.rows]).any()) for c in self._columns)
        scrapes = int(np.count_nonzero(self.batch.present[self.rows].any(axis=0)))
        return columns, self.by_level, self.rows.size, scrapes

    @property
    def _columns(self) -> Iterator[Floats]:
        return iter(self.batch.columns.values())


def without_twins(
    batches: Sequence[Batch], origins: Origins
) -> tuple[tuple[Batch, ...], tuple[str, ...]]:
    """Each statement once, by the exporter that says most, and a note on each other.

    Two sides are twins if they have most statements in common and, for nearly all of
    these, the counters of one lie between those that the other had at the scrapes
    around.
    """
    sides = [side for batch in batches for side in _sides(batch)]
    if len(sides) < 2:
        return tuple(batches), ()
    gone: dict[tuple[str, bool], None] = {}
    notes = []
    ranked = sorted(sides, key=lambda side: side.worth, reverse=True)
    for better, other in combinations(ranked, 2):
        if {better.place, other.place} & gone.keys():
            continue
        declared = {
            origins[side.place].declared
            for side in (better, other)
            if side.place in origins
        }
        if len(declared) < 2 and _twins(better, other):
            gone[other.place] = None
            notes.append(_note(better.place, other.place, origins))
    if not gone:
        return tuple(batches), ()
    kept = [
        batch.rows(rows) if rows.size < len(batch.keys) else batch
        for batch in batches
        for rows in [
            np.sort(
                np.concatenate(
                    [side.rows for side in _sides(batch) if side.place not in gone]
                    or [np.zeros(0, dtype=np.intp)]
                )
            )
        ]
        if rows.size
    ]
    return tuple(kept), tuple(notes)


def _sides(batch: Batch) -> Iterator[_Side]:
    by_level = np.array([bool(key.toplevel) for key in batch.keys], dtype=bool)
    for levels in (True, False):
        rows = np.flatnonzero(by_level == levels)
        if rows.size:
            yield _Side(batch, rows, levels)


def _twins(one: _Side, other: _Side) -> bool:
    known, there = _statements(one), _statements(other)
    common = known.keys() & there.keys()
    if len(common) < max(1, _COMMON * min(len(known), len(there))):
        return False
    costliest = sorted(common, key=lambda name: _most(other, there[name]), reverse=True)
    same = compared = 0
    for name in costliest[:_COMPARED]:
        found = [
            agree
            for row in known[name]
            for its in there[name]
            if (agree := _agree(one.batch, row, other.batch, its)) is not None
        ]
        compared += bool(found)
        same += any(found)
    return compared > 0 and same >= _SAME * compared


def _statements(side: _Side) -> dict[tuple[str, str, str], list[int]]:
    found: dict[tuple[str, str, str], list[int]] = {}
    for row in side.rows.tolist():
        key = side.batch.keys[row]
        found.setdefault((key.database, key.user, key.queryid), []).append(row)
    return found


def _most(side: _Side, rows: Sequence[int]) -> float:
    calls = side.batch.calls[rows]
    return float(np.nanmax(calls)) if np.isfinite(calls).any() else 0.0


def _agree(one: Batch, row: int, other: Batch, its: int) -> bool | None:
    """Whether both counters of two rows are those of one statement; None: unknown.

    A scrape takes a while, so a value may belong a scrape earlier or later.
    """
    kept, there = one.present[row], other.present[its]
    times, at = one.times[kept], other.times[there]
    before = times.searchsorted(at, side="right") - 2
    after = times.searchsorted(at, side="left") + 1
    inside = (before >= -1) & (after <= times.size)
    if not np.any(inside):
        return None
    before = np.maximum(before[inside], 0)
    after = np.minimum(after[inside], times.size - 1)
    good = np.ones(before.size, dtype=bool)
    for name in ("calls", "seconds"):
        values = one.columns[name][row, kept]
        own = other.columns[name][its, there][inside]
        lost = _LOST * np.abs(own)
        good &= (values[before] <= own + lost) & (own <= values[after] + lost)
    return bool(np.mean(good) >= _SCRAPES)


def _note(kept: tuple[str, bool], gone: tuple[str, bool], origins: Origins) -> str:
    differing = _differing(kept, gone, origins)
    example = matcher(*next((label, own) for label, own, _ in differing))
    used, unused = (
        ", ".join(matcher(label, values[which]) for label, *values in differing)
        for which in (0, 1)
    )
    return (
        f"the same statements come twice: {used} is used, {unused} is not; choose one "
        f"with the selector, for example {example}"
    )


def _differing(
    kept: tuple[str, bool], gone: tuple[str, bool], origins: Origins
) -> list[tuple[str, str, str]]:
    """The labels that tell both apart, ``job`` first, with their values."""
    own, its = (
        origins[place].labels if place in origins else {"instance": place[0]}
        for place in (kept, gone)
    )
    labels = sorted({*own, *its}, key=preference)
    found = [(one, own.get(one, ""), its.get(one, "")) for one in labels]
    return [one for one in found if one[1] != one[2]][:_NAMED] or found[:1]
