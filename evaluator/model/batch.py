"""The counters of many queries side by side, from the decoder to the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]

# Scrapes are stored to the millisecond; a sum of floats such as at + window need not
# hit the very number.
_HALF_MILLISECOND = 0.0005


@dataclass(frozen=True, slots=True, order=True)
class QueryKey:
    """One row of pg_stat_statements on one server; label values as Prometheus has them.

    A label that the exporter does not write is the empty string.
    """

    instance: str
    database: str
    user: str
    queryid: str
    toplevel: str


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The counters of q queries of one server at its n scrapes.

    A scrape of a server stores all of its queries at the same instant, so they share
    their times. A query that a scrape did not store is NaN there, in every column.

    Args:
        keys: q queries of one instance, ascending.
        times: (n,) Unix seconds, ascending.
        columns: (q, n) counters so far, by name: ``calls`` and ``seconds`` always, NaN
            at the same places; others such as ``since`` (when the entry was made, Unix
            seconds), ``squares`` (of the execution times, summed, square seconds),
            ``rows`` and ``blocks`` where the exporter has them, NaN where unknown.
        replaces: query id that a statement had before, by its key since then.
        identity: (n,) a number for the server process that answered each scrape, NaN
            where nobody knows; None where that is everywhere.

    Raises:
        ValueError: a column has another shape, or the keys are of several servers.
    """

    keys: tuple[QueryKey, ...]
    times: Floats
    columns: Mapping[str, Floats]
    replaces: Mapping[QueryKey, str] = field(default_factory=dict)
    identity: Floats | None = None

    def __post_init__(self) -> None:
        shape = len(self.keys), self.times.size
        wrong = [name for name, one in self.columns.items() if one.shape != shape]
        if wrong or not {"calls", "seconds"} <= self.columns.keys():
            raise ValueError(
                f"calls, seconds and every further column need the shape {shape}; "
                f"wrong are {', '.join(wrong) or 'none, one of the two is missing'}"
            )
        if self.identity is not None and self.identity.shape != self.times.shape:
            raise ValueError(f"identity needs the shape {self.times.shape}")
        # In ascending order the first and the last differ if any two do.
        if self.keys and self.keys[0].instance != self.keys[-1].instance:
            raise ValueError("a batch holds the queries of one server")

    @property
    def server(self) -> str:
        """The instance of the queries; empty without any."""
        return self.keys[0].instance if self.keys else ""

    @property
    def calls(self) -> Floats:
        return self.columns["calls"]

    @property
    def seconds(self) -> Floats:
        return self.columns["seconds"]

    @property
    def present(self) -> Flags:
        """(q, n) which scrapes stored both counters of a query."""
        known: Flags = ~np.isnan(self.columns["calls"])
        return known

    def between(self, start: float, end: float) -> Batch:
        """The scrapes with start ≤ time ≤ end, Unix seconds, in whole milliseconds.

        No sample is copied.
        """
        inside = slice(
            *self.times.searchsorted(
                [start - _HALF_MILLISECOND, end + _HALF_MILLISECOND]
            ).tolist()
        )
        if inside == slice(0, self.times.size):
            return self
        columns = {name: one[:, inside] for name, one in self.columns.items()}
        identity = None if self.identity is None else self.identity[inside]
        return Batch(self.keys, self.times[inside], columns, self.replaces, identity)

    def rows(self, chosen: Sequence[int] | slice | Places) -> Batch:
        """Some of the queries; copied, unless *chosen* is a slice."""
        keys = (
            self.keys[chosen]
            if isinstance(chosen, slice)
            else tuple(self.keys[row] for row in chosen)
        )
        columns = {name: one[chosen] for name, one in self.columns.items()}
        return Batch(keys, self.times, columns, self.replaces, self.identity)


def join(parts: Iterable[Batch]) -> tuple[Batch, ...]:
    """Batches of any queries, servers and times as one for each server.

    Where two parts hold the same query at the same scrape, the later one counts. A
    column that only some parts have is NaN in the others.

    Returns:
        Ascending by server.
    """
    by_server: dict[str, list[Batch]] = {}
    for part in parts:
        if part.keys:
            by_server.setdefault(part.server, []).append(part)
    return tuple(_join(by_server[server]) for server in sorted(by_server))


def _join(parts: Sequence[Batch]) -> Batch:
    if len(parts) == 1:
        return parts[0]
    keys = tuple(sorted({key for part in parts for key in part.keys}))
    row_of = {key: row for row, key in enumerate(keys)}
    times = np.unique(np.concatenate([part.times for part in parts]))
    places = [
        (
            np.array([row_of[key] for key in part.keys], dtype=np.intp)[:, None],
            np.searchsorted(times, part.times),
        )
        for part in parts
    ]
    shared = sum(len(part.keys) for part in parts) > len(keys) and (
        sum(part.times.size for part in parts) > times.size
    )
    columns = {}
    for name in dict.fromkeys(name for part in parts for name in part.columns):
        whole = columns[name] = np.full((len(keys), times.size), np.nan)
        for part, (rows, scrapes) in zip(parts, places, strict=True):
            if name not in part.columns:
                continue
            values = part.columns[name]
            if shared:
                # What another part holds there must not become unknown.
                values = np.where(np.isnan(values), whole[rows, scrapes], values)
            if scrapes.size and scrapes[-1] - scrapes[0] + 1 == scrapes.size:
                target = rows[:, 0], slice(int(scrapes[0]), int(scrapes[-1]) + 1)
                whole[target] = values
            else:
                whole[rows, scrapes] = values
    replaces = {key: old for part in parts for key, old in part.replaces.items()}
    identity = None
    for part, (_, scrapes) in zip(parts, places, strict=True):
        if part.identity is not None:
            identity = np.full(times.size, np.nan) if identity is None else identity
            known = ~np.isnan(part.identity)
            identity[scrapes[known]] = part.identity[known]
    return Batch(keys, times, columns, replaces, identity)
