"""The figures of docs/statistics.md, each by one seeded function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.engine.stats.multiple_testing import q_values, spent
from evaluator.model import CALIBRATED, Floats

from .noise import INDEPENDENT, Kind
from .trials import Trial, alone, calibrated, classic, draw, matters

ALPHA = 0.05
ALERT, WATCH = 0.05, 0.20

# What a peer finds: a trial in, (s,) whether it blames the deploy for a rise.
Peer = Callable[[Trial], NDArray[np.bool_]]
# A peer needs seconds for a thousand series.
PEER_DEPLOYS = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """Intervals of one trial; *window* on each side of the deploy."""

    window: int = 30
    before: int = 240


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of series found, each without a family."""

    at_05: float
    at_001: float
    classic: float


def rates(
    kind: Kind,
    *,
    cv: float,
    shape: Shape,
    draws: int,
    seed: Sequence[int],
    factor: float = 1.0,
    early: int = 0,
) -> Rates:
    """Size when *factor* is 1, else power; a change *early* before the deploy: blame.

    The pre-filter is left out on both sides, so this is what the p-values promise.
    """
    trial = single(kind, cv=cv, shape=shape, draws=draws, seed=seed)
    trial = trial.slower(np.full(draws, factor), early=early)
    p = alone(trial)
    p_nominal, gate = classic(trial)
    return Rates(
        float(np.mean(p <= ALPHA)),
        float(np.mean(p <= 0.001)),
        float(np.mean(gate & (p_nominal <= ALPHA))),
    )


def classic_at_equal_size(
    kind: Kind, *, cv: float, shape: Shape, draws: int, seed: Sequence[int], size: float
) -> tuple[float, float]:
    """Power for +30 % of the classic rule when quiet series cross it at *size*.

    Returns:
        The power, and the nominal level that gives this size, found on other series.
    """
    quiet = single(kind, cv=cv, shape=shape, draws=draws, seed=[*seed, 1])
    p_nominal, gate = classic(quiet)
    level = float(np.quantile(np.where(gate, p_nominal, 1.0), size))
    trial = single(kind, cv=cv, shape=shape, draws=draws, seed=seed)
    p_nominal, gate = classic(trial.slower(np.full(draws, 1.3)))
    return float(np.mean(gate & (p_nominal <= level))), level


def single(
    kind: Kind, *, cv: float, shape: Shape, draws: int, seed: Sequence[int]
) -> Trial:
    """Series that are judged one by one, 100 calls an interval."""
    return draw(
        kind,
        np.random.default_rng(seed),
        cv=np.full(draws, cv),
        calls=np.full(draws, 100.0),
        before=shape.before,
        window=shape.window,
        after=shape.window,
    )


@dataclass(frozen=True, slots=True)
class Found:
    """At one deploy: false alarms, and the share of the regressions found."""

    false_alarms: float
    power: float


def many_queries(
    kind: Kind,
    *,
    deploys: int,
    seed: int,
    queries: int = 1000,
    shape: Shape = Shape(),
    peer: Peer | None = None,
) -> dict[str, Found]:
    """One query in a hundred regresses by +30 to +100 %; means over *deploys*.

    Returns:
        ``alert`` and ``watch`` of the calibrated rule, ``classic``, and ``peer`` over
        the first deploys.
    """
    seen: dict[str, list[tuple[float, float]]] = {}
    for deploy in range(deploys):
        trial, bad = family(kind, [seed, deploy], queries, shape)
        real = matters(trial)
        q = q_values(calibrated(trial).p_value)
        p_nominal, gate = classic(trial)
        found = {
            "alert": real & (q <= ALERT),
            "watch": real & (q <= WATCH),
            "classic": real & gate & (p_nominal <= ALPHA),
        }
        if peer is not None and deploy < PEER_DEPLOYS:
            found["peer"] = peer(trial)
        for name, one in found.items():
            row = float(np.sum(one & ~bad)), float(np.mean(one[bad]))
            seen.setdefault(name, []).append(row)
    return {name: Found(*np.mean(rows, axis=0)) for name, rows in seen.items()}


def family(
    kind: Kind, seed: Sequence[int], queries: int, shape: Shape
) -> tuple[Trial, NDArray[np.bool_]]:
    """CV .1 to .6, 10 to 400 calls an interval; (s,) which queries regress."""
    rng = np.random.default_rng(seed)
    trial = draw(
        kind,
        rng,
        cv=rng.uniform(0.1, 0.6, queries),
        calls=np.exp(rng.uniform(np.log(10.0), np.log(400.0), queries)),
        before=shape.before,
        window=shape.window,
        after=shape.window,
    )
    bad = np.zeros(queries, dtype=bool)
    bad[rng.choice(queries, max(1, queries // 100), replace=False)] = True
    factors = np.where(bad, rng.uniform(1.3, 2.0, queries), 1.0)
    return trial.slower(factors), bad


@dataclass(frozen=True, slots=True)
class Early:
    """Five looks: share found at any of them, and the mean minute of the find."""

    found: float
    minute: float


def looks(kind: Kind, *, cv: float, factor: float, draws: int, seed: int) -> Early:
    """Look after 10, 15, 20, 25 and 30 of 30 minutes, and stop at the first find."""
    trial = single(kind, cv=cv, shape=Shape(), draws=draws, seed=[seed, 1])
    trial = trial.slower(np.full(draws, factor))
    minutes = [round(30 * share) for share in CALIBRATED.looks]
    hits = np.stack(
        [
            spent(alone(trial.until(minute)), look) <= ALPHA
            for look, minute in enumerate(minutes)
        ]
    )
    first = np.array(minutes)[hits.argmax(axis=0)]
    any_hit = hits.any(axis=0)
    return Early(float(any_hit.mean()), _mean(first[any_hit]))


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")


def veto(*, cv: float, draws: int, seed: int) -> Rates:
    """An unrelated +50 % ten minutes before the deploy: how often it is blamed."""
    return rates(
        INDEPENDENT,
        cv=cv,
        shape=Shape(),
        draws=draws,
        seed=[seed, round(1000 * cv)],
        factor=1.5,
        early=10,
    )
