"""A server that goes by another name since some moment is followed as one (pure).

The label ``instance`` changes with the exporter's port, and in Kubernetes with every
pod. The statements are the same ones all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...model import Batch, Floats, Places, QueryKey, join
from ...units import show_time
from .identities import Identity, number_of
from .succession import SCRAPES_TOGETHER, SECONDS_TOGETHER

# The longest time between the last scrape under the old name and the first under the
# new one, seconds.
_PAUSE = 900.0
# A longer pause, seconds, and the share of the counters that must go on after it.
_LONG_PAUSE, _SURELY = 14_400.0, 0.9
# Share of the statements of the smaller that both must have, and share of these whose
# counters go on for which names are surely of one server.
_COMMON, _CONTINUED = 0.5, 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """Batches under the newest names.

    Args:
        batches: one for each server, ascending.
        renamed: older name → newest.
        notes: a sentence for each server that has another name now.
    """

    batches: tuple[Batch, ...]
    renamed: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Life:
    """One name: when it was scraped, and how often."""

    batch: Batch
    first: float
    last: float
    step: float


@dataclass(frozen=True, slots=True)
class _Pair:
    """An older and a newer name that may be of one server."""

    older: int
    newer: int
    same_host: bool
    continued: float


def follow_renames(
    batches: Sequence[Batch], identities: Mapping[str, Sequence[Identity]] = {}
) -> Followed:
    """Join the counters of servers that changed their name.

    The old name ends where the new one begins, and most statements are the same. Of
    several candidates that with the same host is taken, else that whose counters go on.
    Nobody knows that the counters are those of the same server process unless its
    gauges say so; without them the interval across is dropped as a reset.

    Args:
        batches: one for each name, ascending.
        identities: by name, gauges about the server; while one is scraped the name is
            in use, even if none of the queries that were asked for is there.
    """
    if len(batches) < 2:
        return Followed(tuple(batches), {}, ())
    lives = [_life(batch, identities.get(batch.server, ())) for batch in batches]
    successors = {pair.older: pair.newer for pair in _chosen(list(_candidates(lives)))}
    if not successors:
        return Followed(tuple(batches), {}, ())
    parts, renamed, notes = list[Batch](), dict[str, str](), list[str]()
    for start in range(len(batches)):
        if start in successors.values():
            continue
        line = [start]
        while (following := successors.get(line[-1])) is not None:
            line.append(following)
        name = batches[line[-1]].server
        for place, row in enumerate(line):
            life = lives[row]
            until = lives[line[place + 1]].first if row != line[-1] else np.inf
            parts.append(_called(_until(life.batch, until), name))
            if row != line[-1]:
                renamed[life.batch.server] = name
                notes.append(
                    f"{life.batch.server} is called "
                    f"{batches[line[place + 1]].server} since {show_time(until)}: "
                    "followed as one server"
                )
    return Followed(join(parts), renamed, tuple(notes))


def _life(batch: Batch, gauges: Sequence[Identity]) -> _Life:
    stored = batch.times[batch.present.any(axis=0)]
    if not stored.size:
        return _Life(batch, np.nan, np.nan, np.nan)
    times = np.unique(np.concatenate([stored, *(one.times for one in gauges)]))
    step = float(np.median(np.diff(times))) if times.size > 1 else 0.0
    return _Life(batch, float(times[0]), float(times[-1]), step)


def _candidates(lives: Sequence[_Life]) -> Iterator[_Pair]:
    for older, one in enumerate(lives):
        for newer, other in enumerate(lives):
            steps = SCRAPES_TOGETHER * max(one.step, other.step)
            together = max(steps, SECONDS_TOGETHER)
            if (
                one.first < other.first
                and one.last < other.last
                and -together <= other.first - one.last <= _LONG_PAUSE
            ):
                rows = _common_rows(one.batch, other.batch)
                fewest = min(len(one.batch.keys), len(other.batch.keys))
                if len(rows[0]) >= max(1, _COMMON * fewest):
                    hosts = {_host(life.batch.server) for life in (one, other)}
                    went_on = _went_on(one, other, rows)
                    if other.first - one.last <= _PAUSE or went_on >= _SURELY:
                        yield _Pair(older, newer, len(hosts) == 1, went_on)


def _chosen(candidates: Sequence[_Pair]) -> Iterator[_Pair]:
    """Each name in at most one pair as the older, and in one as the newer."""
    before, after = set[int](), set[int]()
    for pair in sorted(
        candidates, key=lambda pair: (pair.same_host, pair.continued), reverse=True
    ):
        if pair.older in before or pair.newer in after:
            continue
        alone = not any(
            (other.older == pair.older) != (other.newer == pair.newer)
            for other in candidates
        )
        if pair.same_host or pair.continued >= _CONTINUED or alone:
            before.add(pair.older)
            after.add(pair.newer)
            yield pair


def _common_rows(one: Batch, other: Batch) -> tuple[Places, Places]:
    """Rows of the statements that both have, in the same order."""
    there = {_statement(key): row for row, key in enumerate(other.keys)}
    pairs = [
        (row, there[_statement(key)])
        for row, key in enumerate(one.keys)
        if _statement(key) in there
    ]
    rows = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _went_on(one: _Life, other: _Life, rows: tuple[Places, Places]) -> float:
    """Share of the common statements whose calls go on as they did before.

    They did not fall, and did not grow more than tenfold what they had grown before.
    """
    calls, following = one.batch.calls[rows[0]], other.batch.calls[rows[1]]
    known = np.isfinite(calls).any(axis=1) & np.isfinite(following).any(axis=1)
    calls, following = calls[known], following[known]
    if not len(calls):
        return 0.0
    first, last, begin = _ends(calls)[0], _ends(calls)[1], _ends(following)[0]
    grown, seconds = last - first, max(one.last - one.first, one.step, 1.0)
    expected = grown / seconds * (abs(other.first - one.last) + other.step)
    went_on = (begin >= last) & (begin - last <= 10.0 * expected + 10.0)
    return float(np.mean(went_on))


def _ends(values: Floats) -> tuple[Floats, Floats]:
    """(q,) the first and the last finite value of each row."""
    known = np.isfinite(values)
    rows = np.arange(len(values))
    first = known.argmax(axis=1)
    last = values.shape[1] - 1 - known[:, ::-1].argmax(axis=1)
    return values[rows, first], values[rows, last]


def _until(batch: Batch, end: float) -> Batch:
    """The scrapes before *end*, every one with a known identity."""
    kept = slice(0, int(batch.times.searchsorted(end)))
    identity = batch.identity
    if identity is None:
        identity = np.full(batch.times.size, number_of(batch.server.encode()))
    return replace(
        batch,
        times=batch.times[kept],
        columns={name: one[:, kept] for name, one in batch.columns.items()},
        identity=identity[kept],
    )


def _called(batch: Batch, name: str) -> Batch:
    """The same queries on a server of this name."""
    if batch.server == name:
        return batch
    replaces = {replace(key, instance=name): old for key, old in batch.replaces.items()}
    keys = tuple(replace(key, instance=name) for key in batch.keys)
    return replace(batch, keys=keys, replaces=replaces)


def _statement(key: QueryKey) -> tuple[str, ...]:
    return key.database, key.user, key.queryid, key.toplevel


def _host(server: str) -> str:
    return server.rsplit(":", 1)[0]
