"""Values for tests, each in one readable line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluator.model import (
    CallFlood,
    ChangePoint,
    Contribution,
    Deploy,
    Effect,
    Effects,
    Estimate,
    Floats,
    Improvement,
    Level,
    LoadChange,
    LoadKind,
    LoadPart,
    MeasureErrors,
    MovedCost,
    NewStatement,
    Outcome,
    QueryKey,
    Severity,
    SharedRise,
    Significance,
    Stage,
    Usage,
    Vanished,
    Verdict,
    WelchTest,
    Window,
)
from tests.queries import Counters as Counters
from tests.queries import judged as judged

KEY = QueryKey("db1:9719", "shop", "app", "-42", "true")

# Any moment; late enough that a mix-up with milliseconds would be noticed.
DEPLOY_AT = 1_790_000_000.0


def key(queryid: str = "-42") -> QueryKey:
    return QueryKey(KEY.instance, KEY.database, KEY.user, queryid, KEY.toplevel)


def deploy(at: float = DEPLOY_AT, **fields: Any) -> Deploy:
    return Deploy(**{"id": "grafana-1", "service": "shop", **fields}, at=at)


def finding(level: Level, queryid: str = "-42") -> Verdict:
    """One query that got half as slow again, told as loudly as *level* says."""
    sides = [Window(30, 1200.0, 1200.0 * mean, 1800.0) for mean in (0.01, 0.015)]
    return Verdict(
        key(queryid),
        Outcome.DETECTED if level is Level.ALERT else Outcome.NO_REGRESSION,
        Stage.FAMILY,
        usable=60,
        dropped={},
        before=sides[0],
        after=sides[1],
        factor=1.5,
        change=ChangePoint(split=30, at=DEPLOY_AT, statistic=0.1, min_segment=6),
        test=WelchTest(t=3.0, nu=50.0, p_nominal=1e-3, upward=True),
        effect=Effect(0.01, 0.015, 1.5, 0.01 / 3, 1.2, 1.9),
        significance=Significance(
            p_value=1e-3,
            q_value=0.01 if level is Level.ALERT else 0.1,
            level=level,
            phi=0.1,
            no_change_bound=0.3,
            long_history=True,
        ),
    )


def estimate(value: float) -> Estimate:
    """With an interval of a tenth to each side."""
    return Estimate(value, value - 0.1 * abs(value), value + 0.1 * abs(value))


def vanished(queryid: str = "old", load: float = 0.2) -> Vanished:
    """A statement that ran 40 times a second until the deploy."""
    return Vanished(key(queryid), DEPLOY_AT, Usage(40.0, load), "SELECT FROM orders")


def new_statement(
    queryid: str = "new", share: float = 0.4, **more: Any
) -> NewStatement:
    """A statement that begins 15 s after the deploy and costs 0.4 s each second."""
    fields = {"notable": share >= 0.05, "text": "SELECT * FROM orders", **more}
    return NewStatement(key(queryid), DEPLOY_AT + 15, Usage(10.0, 0.4), share, **fields)


def flood(queryid: str = "often", share: float = 0.3, **more: Any) -> CallFlood:
    """A statement that is called 25 times as often since the deploy."""
    return CallFlood(
        key(queryid),
        before=Usage(2.0, 0.01),
        after=Usage(50.0, 0.25),
        factor=Estimate(25.0, 22.0, 28.0),
        traffic=1.0,
        p_value=1e-9,
        q_value=1e-8,
        **{"share": share, "notable": share >= 0.05, **more},
    )


def moved(queryid: str = "-42") -> MovedCost:
    """A statement that got slower in place of another."""
    return MovedCost(
        key(queryid),
        vanished(),
        Usage(10.0, 0.1),
        Usage(10.0, 0.25),
        estimate(-0.05),
    )


def improvement(queryid: str = "fast") -> Improvement:
    """A statement that got twice as fast."""
    return Improvement(
        key(queryid), Usage(10.0, 0.2), Usage(10.0, 0.1), 0.5, 0.1, q_value=1e-6
    )


def load_change(server: str = KEY.instance) -> LoadChange:
    """From 0.5 to 0.9 s of execution each second."""
    changes = (0.1, 0.25, 0.15, -0.1)
    return LoadChange(
        server,
        estimate(0.5),
        estimate(0.9),
        tuple(
            LoadPart(kind, estimate(change), 1, (Contribution(key(), change),))
            for kind, change in zip(LoadKind, changes, strict=True)
        ),
    )


def shared_rise(factor: float = 1.4, **more: Any) -> SharedRise:
    """A whole server that slowed down; the query of KEY is explained by it."""
    fields: dict[str, Any] = {
        "server": KEY.instance,
        "whole": True,
        "queries": 62,
        "members": (KEY, key("2"), key("3"), key("4")),
        "factor": Estimate(factor, factor / 1.1, factor * 1.1),
        "largest_before": 1.08,
        "moments": 230,
        "extra_seconds_per_second": 0.75,
        "severity": Severity.CRITICAL,
        "explained": (KEY,),
    }
    return SharedRise(**fields | more)


def effects(**more: Any) -> Effects:
    """One of everything."""
    return Effects(
        **{
            "loads": (load_change(),),
            "new": (new_statement(replaced=vanished(), pair=estimate(0.2)),),
            "vanished": (vanished(),),
            "floods": (flood(),),
            "moved": (moved("moved"),),
            "improvements": (improvement(),),
            "errors": (MeasureErrors(KEY.instance, DEPLOY_AT + 15, 20, 1, 2, 3, 40),),
            **more,
        }
    )


def scrapes(
    *rows: tuple[float, float, float], since: Sequence[float] | None = None
) -> Counters:
    """One query's scrapes as (time, calls, seconds)."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return Counters(
        key=KEY,
        times=table[:, 0],
        calls=table[:, 1],
        seconds=table[:, 2],
        since=None if since is None else np.array(since, dtype=np.float64),
    )


def counters(
    means: Floats | Sequence[float],
    calls: float | Floats = 40.0,
    *,
    queryid: str = "-42",
    step: float = 60.0,
    at: float = DEPLOY_AT,
) -> Counters:
    """Counters whose interval means are *means*, half of them before the deploy.

    Args:
        means: (n,) seconds per call, one for each interval.
        calls: executions in each interval, one number or (n,).
        step: scrape interval, seconds.
    """
    x = np.asarray(means, dtype=np.float64)
    c = np.broadcast_to(np.asarray(calls, dtype=np.float64), x.shape)
    return Counters(
        key=key(queryid),
        times=at + step * np.arange(-(x.size // 2), x.size - x.size // 2 + 1.0),
        calls=np.concatenate([[1000.0], 1000.0 + np.cumsum(c)]),
        seconds=np.concatenate([[10.0], 10.0 + np.cumsum(c * x)]),
    )


def noise(rng: np.random.Generator, n: int = 60, cv: float = 0.1) -> Floats:
    """Log-normal factors around 1 with coefficient of variation *cv*, as (n,)."""
    sigma = np.sqrt(np.log1p(cv * cv))
    return np.exp(rng.normal(-sigma * sigma / 2, sigma, n))
