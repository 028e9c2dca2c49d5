"""What the engines report at moments at which nothing was deployed."""

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
class FalseAlarm:
    """A query that an engine would have reported.

    Args:
        at: the moment, Unix seconds.
        factor: mean after / mean before.
    """

    engine: str
    at: float
    key: QueryKey
    factor: float


@dataclass(frozen=True, slots=True)
class EngineResult:
    """How often one engine raised a false alarm.

    Args:
        moments: at which it could judge at least one query.
        alarmed: of these, with at least one false alarm.
        judged: pairs of query and moment that it could judge.
        false_alarms: of these, detected.
        watched: of these, on the watch list.
        share: alarmed / moments; None without moments.
        per_thousand: false alarms per 1,000 judged; None if none was judged.
        dispersion: variance of the number of false alarms over that of independent
            ones.
    """

    engine: str
    moments: int
    alarmed: int
    judged: int
    false_alarms: int
    watched: int
    share: Rate | None
    per_thousand: Rate | None
    dispersion: float


@dataclass(frozen=True, slots=True)
class QueryNoise:
    """How much the factor of one query varies when nothing is deployed.

    Args:
        moments: at which it had enough data.
        log_factor_sd: standard deviation of the logarithm of its factor.
        detectable_factor: by engine, the smallest factor found in four of five deploys.
    """

    key: QueryKey
    moments: int
    log_factor_sd: float
    detectable_factor: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class BacktestReport:
    """The result of a backtest, complete or interrupted.

    Args:
        start, end: first and last moment, Unix seconds.
        every: distance of two moments, seconds.
        window: length of each side, seconds.
        planned: moments to judge; ``judged`` of them were, ``empty`` of these had no
            query with enough data.
        near_deploys: moments left out, less than a window from a known deploy.
        queries: that had any sample; ``never_judged`` of them never had enough data.
        false_alarms: every one, in the order of the moments.
        noise: of queries with enough moments, the noisiest first.
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
    engines: tuple[EngineResult, ...]
    false_alarms: tuple[FalseAlarm, ...]
    noise: tuple[QueryNoise, ...]
    notes: tuple[str, ...] = ()
