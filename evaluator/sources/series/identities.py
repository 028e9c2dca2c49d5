"""Which server process answered each scrape: the gauges that change with it (pure).

Behind one address another server may answer after a failover, and the same one after a
restart. Its counters say nothing about those of the one before.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...model import Batch, Flags, Floats
from ..matrix import RawSeries
from ..profiles import Profile
from .batches import milliseconds, one_rounding
from .succession import Clash, Successions


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """Who answered, by one gauge.

    Args:
        times: (n,) Unix seconds, ascending.
        values: (n,) numbers that differ where somebody else answered.
    """

    times: Floats
    values: Floats


def identities_of(
    raw: Iterable[RawSeries], profile: Profile
) -> dict[str, tuple[Identity, ...]]:
    """What the gauges say of each server.

    Args:
        raw: cut to the time that counts; other metrics than the profile's are left out.
    """
    found: dict[tuple[str, str], list[RawSeries]] = defaultdict(list)
    for series in raw:
        if series.name and series.name in profile.identity and series.times.size:
            found[profile.server(series.labels), series.name].append(series)
    by_server: dict[str, list[Identity]] = defaultdict(list)
    for (server, name), several in sorted(found.items()):
        is_info = name == profile.server_info
        numbers = [_numbers(one, profile) if is_info else one for one in several]
        by_server[server] += map(_identity, _in_rows(numbers))
    return {server: tuple(known) for server, known in by_server.items()}


def stamped(
    batch: Batch, identities: Sequence[Identity]
) -> tuple[Batch, tuple[float, ...]]:
    """The batch with the identity of each scrape, and when it changed, Unix seconds.

    A scrape that did not store a gauge belongs to whom the scrapes around it belong.
    Where these differ nobody knows: it is somebody of its own, so that no interval that
    begins or ends there is trusted.
    """
    known = [one for one in identities if one.times.size]
    if not known or not batch.times.size:
        return batch, ()
    at = milliseconds(batch.times)
    values = np.empty((len(known), at.size))
    unclear = np.zeros(at.size, dtype=bool)
    changes: set[float] = set()
    for row, one in enumerate(known):
        values[row], doubtful = _filled(at, one)
        unclear |= doubtful
        changes.update(one.times[1:][np.diff(one.values) != 0].tolist())
    states, which = np.unique(values, axis=1, return_inverse=True)
    numbers = np.array([number_of(state.tobytes()) for state in states.T])
    identity = numbers[which.reshape(-1)]
    identity[unclear] = [number_of(str(one).encode()) for one in at[unclear]]
    first, last = batch.times[0], batch.times[-1]
    inside = sorted(one for one in changes if first < one <= last)
    return replace(batch, identity=identity), tuple(inside)


def _filled(at: Floats, one: Identity) -> tuple[Floats, Flags]:
    """(n,) value in force at each scrape, and where it may be another.

    Args:
        at: (n,) scrapes, milliseconds.
    """
    own = milliseconds(one.times)
    last = own.searchsorted(at, side="right") - 1
    before, after = np.maximum(last, 0), np.minimum(last + 1, own.size - 1)
    differ = one.values[before] != one.values[after]
    unclear: Flags = (last >= 0) & (own[before] != at) & differ
    return one.values[before], unclear


def _in_rows(several: Sequence[RawSeries]) -> Sequence[RawSeries]:
    """One series where they follow one another, else each by itself."""
    joined = Successions().one_of(several)
    return several if isinstance(joined, Clash) else [joined]


def _identity(series: RawSeries) -> Identity:
    good = np.isfinite(series.values)
    # A start time may lose digits in the storage; it is the same one all the same.
    values = np.round(one_rounding(series.values[good]), 3)
    return Identity(series.times[good], values)


def _numbers(series: RawSeries, profile: Profile) -> RawSeries:
    """The same with a number for the cluster that its label names."""
    system = series.labels.get(profile.system_identifier, "")
    values = np.full(
        series.times.size, number_of(system.encode()) if system else np.nan
    )
    return replace(series, values=values)


def number_of(content: bytes) -> float:
    """A number that differs for different contents, exact as a float."""
    digest = hashlib.blake2b(content, digest_size=6).digest()
    return float(int.from_bytes(digest))
