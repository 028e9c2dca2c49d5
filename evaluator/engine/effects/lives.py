"""Which statements begin with the deploy, and which end with it.

A statement is its fingerprint; where that is not known, its query id in its database.
So the same statement under another id, user or database is neither new nor gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...model import Batch, Flags, Floats, Places, QueryKey, Settings
from ..prepare.intervals import intervals

# Prometheus keeps times to the millisecond, VictoriaMetrics about twelve digits.
_ROUNDING = 1.0
# The first count of a new entry, in the most calls of any later interval, and what
# is few calls in any case.
_FIRST, _FEW_CALLS = 5.0, 100.0
# How many times as long as before it has to be silent, to have vanished.
_SILENT = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Lives:
    """Of s statements of one server.

    Args:
        since: (s,) first seen since the deploy, less the tolerance.
        new: (s,) of these, those first seen near the deploy.
        vanished: (s,) called until about the deploy, and not since.
        first_seen: (s,) first scrape that stored it, Unix seconds; NaN without any.
        last_called: (s,) end of the last interval of the window in which it ran, Unix
            seconds; NaN without any.
    """

    since: Flags
    new: Flags
    vanished: Flags
    first_seen: Floats
    last_called: Floats


def lives_of(
    batch: Batch,
    fingerprints: Mapping[QueryKey, str],
    *,
    at: float,
    settled: float,
    end: float,
    settings: Settings,
) -> Lives:
    """Tell what begins and what ends.

    Args:
        batch: the whole history that was read.
        at, settled: begin and end of the deploy, Unix seconds.
        end: of what is looked at.
    """
    tolerance = settings.tolerance
    whole = batch.between(-np.inf, end)
    present = whole.present
    s = len(batch.keys)
    if not whole.times.size:
        nothing = np.zeros(s, dtype=bool)
        unknown = np.full(s, np.nan)
        return Lives(nothing, nothing, nothing, unknown, unknown)
    there = present.any(axis=1)
    first = np.where(there, present.argmax(axis=1), 0)
    first_seen = np.where(there, whole.times[first], np.nan)
    alike = _Identities(batch.keys, fingerprints)
    since = there & (first_seen > at - tolerance)
    # Without an older scrape nobody knows what was there.
    since &= whole.times[0] < at - tolerance
    if "since" in whole.columns:
        made = whole.columns["since"][np.arange(s), first]
        since &= ~(made < at - tolerance - _ROUNDING)
    since &= _plausible(whole, first)
    # All that share an identity must be young.
    since &= ~alike.any_of(there & ~since)
    called, last_called, silence = _calls(whole, at, end, settings)
    quiet = called & (last_called <= settled + tolerance)
    quiet &= last_called >= at - tolerance
    quiet &= end - last_called >= np.maximum(_SILENT * silence, tolerance)
    running = ~np.isnan(last_called) & (last_called > settled + tolerance)
    vanished = quiet & ~since & ~alike.any_of(running)
    return Lives(
        since=since,
        new=since & (first_seen <= settled + tolerance),
        vanished=vanished,
        first_seen=first_seen,
        last_called=last_called,
    )


def _plausible(whole: Batch, first: Places) -> Flags:
    """(s,) whether the first count can be that of an entry made since the last scrape.

    What an exporter's limit left out until then appears with all calls of its life.
    """
    rows = np.arange(len(whole.keys))
    added = np.diff(whole.calls, axis=1)
    most = np.where(np.isnan(added), 0.0, added).max(axis=1, initial=0.0)
    plausible: Flags = whole.calls[rows, first] <= _FIRST * most + _FEW_CALLS
    return plausible


class _Identities:
    """Statements by their fingerprint, else by their id and database."""

    def __init__(
        self, keys: tuple[QueryKey, ...], fingerprints: Mapping[QueryKey, str]
    ) -> None:
        number: dict[tuple[str, ...], int] = {}
        self._of = np.array(
            [
                number.setdefault(_identity(key, fingerprints), len(number))
                for key in keys
            ],
            dtype=np.intp,
        )
        self._count = len(number)

    def any_of(self, flags: Flags) -> Flags:
        """(s,) whether one of the same identity has the flag."""
        has = np.zeros(self._count, dtype=bool)
        has[self._of[flags]] = True
        shared: Flags = has[self._of]
        return shared


def _identity(key: QueryKey, fingerprints: Mapping[QueryKey, str]) -> tuple[str, ...]:
    if fingerprint := fingerprints.get(key):
        return (fingerprint,)
    return key.database, key.queryid


def _calls(
    whole: Batch, at: float, end: float, settings: Settings
) -> tuple[Flags, Floats, Floats]:
    """Whether each ran before the deploy, when last, and its longest silence before.

    Returns:
        (s,) flags, (s,) Unix seconds, (s,) seconds from the window's start on.
    """
    window = whole.between(at - settings.window, end)
    s, m = len(whole.keys), max(window.times.size - 1, 0)
    called: Flags = np.zeros(s, dtype=bool)
    last_called, silence = np.full(s, np.nan), np.full(s, np.inf)
    if not m:
        return called, last_called, silence
    spans = intervals(window, max_gap=settings.max_gap)
    ends = spans.ends
    ran = spans.usable.any(axis=1)
    last = m - 1 - spans.usable[:, ::-1].argmax(axis=1)
    last_called[ran] = ends[last[ran]]
    past = int(ends.searchsorted(at, side="right"))
    before = spans.usable[:, :past]
    called = np.any(before, axis=1)
    for row in np.flatnonzero(called & (last_called < end - settings.tolerance)):
        moments = ends[:past][before[row]]
        silence[row] = np.diff(moments, prepend=window.times[0]).max()
    return called, last_called, silence
