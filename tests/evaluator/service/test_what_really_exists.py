"""What scraping really leaves behind costs no verdict and makes no wrong one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evaluator.model import DecisionKind, Outcome, Report, Settings
from evaluator.service.evaluate import examine
from evaluator.sources.captures import Capture
from evaluator.sources.profiles import PROFILES
from tests.builders import DEPLOY_AT, deploy

PROFILE = PROFILES["pgverdict"]
STEP, HISTORY = 30.0, 5 * 3600.0
QUERIES = 12

Series = dict[str, Any]


def scraped(factor: float, seed: int = 1) -> list[Series]:
    """Hours of a dozen queries; the first takes *factor* as long since the deploy."""
    rng = np.random.default_rng(seed)
    times = DEPLOY_AT + np.arange(-HISTORY, 1800.0 + 1, STEP)
    result: list[Series] = []
    for query in range(QUERIES):
        slower = np.where(times[1:] > DEPLOY_AT, 1.0 if query else factor, 1.0)
        mean = 0.002 * (query + 1) * slower
        made = rng.poisson(20 * STEP, times.size - 1)
        calls = 1e5 + np.concatenate([[0], np.cumsum(made)])
        took = made * mean * rng.lognormal(0, 0.1, made.size)
        seconds = 100 + np.concatenate([[0], np.cumsum(took)])
        labels = {"instance": "db", "job": "postgres", "datname": "shop", "user": "app"}
        for name, values in ((PROFILE.calls, calls), (PROFILE.seconds, seconds)):
            result.append(
                {
                    "metric": labels | {"__name__": name, "queryid": str(query)},
                    "values": list(zip(times.tolist(), values.tolist(), strict=True)),
                }
            )
    return result


def judged(result: list[Series], tmp_path: Any, engine: str) -> Report:
    written = [
        {**one, "values": [[at, repr(value)] for at, value in one["values"]]}
        for one in result
    ]
    path = tmp_path / "capture.json"
    path.write_text(
        json.dumps(
            {
                "status": "success",
                "data": {"resultType": "matrix", "result": written},
            }
        )
    )
    capture = Capture(str(path), PROFILE)
    return examine(
        deploy(),
        lambda _, start, end: capture.read(start, end),
        Settings(engine=engine),
        lambda: DEPLOY_AT,
        around=lambda _, start, end, __: capture.surroundings(start, end),
    )


def divided(
    result: list[Series], at: list[float], change: Callable[[int], Any]
) -> list[Series]:
    """Each series as several, one for each pod; *change* gives its labels."""
    ends = [-np.inf, *(DEPLOY_AT + one for one in at), np.inf]
    return [
        {
            "metric": {**one["metric"], **change(pod)},
            "values": [
                sample
                for sample in one["values"]
                if ends[pod] <= sample[0] < ends[pod + 1]
            ],
        }
        for one in result
        for pod in range(len(ends) - 1)
    ]


def pod(number):
    return {"pod": f"exporter-{number}"}


def job(number):
    return {"job": f"job-{number}"}


def address(number):
    return {"instance": f"10.0.0.{number}:9719", **pod(number)}


def another_server(result: list[Series], since: float, gauge: Series) -> list[Series]:
    """From then on the counters are those of a server with far higher ones."""
    jumped = []
    for one in result:
        jump = 5e5 if one["metric"]["__name__"] == PROFILE.calls else 50.0
        values = [
            (at, value + jump * (at >= DEPLOY_AT + since))
            for at, value in one["values"]
        ]
        jumped.append({**one, "values": values})
    return [*jumped, gauge]


def gauge(name: str, since: float, before: float, after: float, **more: str) -> Series:
    times = DEPLOY_AT + np.arange(-HISTORY, 1800.0 + 1, STEP)
    return {
        "metric": {"__name__": name, "instance": "db", "job": "postgres", **more},
        "values": [
            (at, before if at < DEPLOY_AT + since else after) for at in times.tolist()
        ],
    }


HANDOVERS = {
    "a pod before the deploy": lambda result: divided(result, [-7200.0], pod),
    "a pod at the deploy": lambda result: divided(result, [0.0], pod),
    "three pods": lambda result: divided(result, [-9000.0, -100.0, 700.0], pod),
    "a job": lambda result: divided(result, [-600.0], job),
    "an address": lambda result: divided(result, [-1000.0], address),
    "three addresses": lambda result: divided(result, [-9000.0, -60.0, 900.0], address),
    "a failover": lambda result: another_server(
        result, 600.0, gauge(PROFILE.started, 600.0, 1.7e9, 1.65e9)
    ),
    "a failover in the history": lambda result: another_server(
        result, -6000.0, gauge(PROFILE.started, -6000.0, 1.7e9, 1.75e9)
    ),
    "a promotion": lambda result: another_server(
        result, 300.0, gauge(PROFILE.recovery, 300.0, 0, 1)
    ),
    "a sample twice": lambda result: [
        {**one, "values": sorted([*one["values"], *one["values"][300:340]])}
        for one in result
    ],
}


@pytest.mark.parametrize("engine", ["calibrated", "classic"])
@pytest.mark.parametrize("kind", HANDOVERS)
def test_a_regression_is_found_all_the_same(kind, engine, tmp_path):
    report = judged(HANDOVERS[kind](scraped(2.0)), tmp_path, engine)

    assert [verdict.key.queryid for verdict in report.detected] == ["0"]
    assert report.detected[0].factor == pytest.approx(2.0, rel=0.1)
    assert len(report.verdicts) == QUERIES


@pytest.mark.parametrize("kind", HANDOVERS)
def test_nothing_is_found_where_nothing_changed(kind, tmp_path):
    report = judged(HANDOVERS[kind](scraped(1.0)), tmp_path, "calibrated")

    assert report.decision.kind is DecisionKind.CLEAR
    assert len(report.verdicts) == QUERIES
    assert report.count(Outcome.INSUFFICIENT_DATA) == 0


def test_a_failover_without_any_gauge_is_read_as_it_is(tmp_path):
    """As before: nobody can know."""
    result = another_server(scraped(2.0), 600.0, gauge("up", 600.0, 1, 1))

    report = judged(result, tmp_path, "calibrated")

    assert report.quality.server_changes == 0
