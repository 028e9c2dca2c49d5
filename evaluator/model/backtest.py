"""What the engines say of moments at which nothing was deployed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .batch import QueryKey


@dataclass(frozen=True, slots=True)
class Rate:
    """A share or a rate, with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Cry:
    """A query that an engine would have named.

    Args:
        at: the moment, Unix seconds.
        factor: mean after / mean before.
    """

    engine: str
    at: float
    key: QueryKey
    factor: float


@dataclass(frozen=True, slots=True)
class EngineRecord:
    """How often one engine cried.

    Args:
        moments: at which it could judge at least one query.
        crying: of these, with at least one query named.
        judged: pairs of query and moment that it could judge.
        cries: of these, named.
        watched: of these, on the watch list.
        share: crying / moments; None without moments.
        per_thousand: cries per 1,000 judged; None without any.
        dispersion: variance of the number of cries over that of independent ones.
    """

    engine: str
    moments: int
    crying: int
    judged: int
    cries: int
    watched: int
    share: Rate | None
    per_thousand: Rate | None
    dispersion: float


@dataclass(frozen=True, slots=True)
class QueryScatter:
    """How much the factor of one query varies when nothing is deployed.

    Args:
        moments: at which it had enough data.
        scatter: standard deviation of the logarithm of its factor.
        least_factor: by engine, the least factor that it finds four times in five.
    """

    key: QueryKey
    moments: int
    scatter: float
    least_factor: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PlaceboReport:
    """The placebo check, as far as it came.

    Args:
        start, end: first and last moment, Unix seconds.
        every: distance of two moments, seconds.
        window: length of each side, seconds.
        planned: moments to judge; ``judged`` of them were, ``empty`` of these had no
            query with enough data.
        near_deploys: moments left out, less than a window from a known deploy.
        queries: that were seen; ``never_judged`` of them never had enough data.
        scatters: of queries with enough moments, the noisiest first.
        notes: sentences a reader must know to trust the rest.
    """

    start: float
    end: float
    every: float
    window: float
    planned: int
    judged: int
    empty: int
    near_deploys: int
    queries: int
    never_judged: int
    records: tuple[EngineRecord, ...]
    cries: tuple[Cry, ...]
    scatters: tuple[QueryScatter, ...]
    notes: tuple[str, ...] = ()
