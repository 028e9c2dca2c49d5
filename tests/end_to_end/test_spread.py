"""The squares of the execution times, read from a real Prometheus, weigh a verdict."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.noise import single_calls
from lab import fetch
from lab.history import backfill
from lab.prometheus import Prometheus
from tests.builders import Counters, counters
from tests.evaluator.history import openmetrics_of

from .commands import evaluator, write

pytestmark = pytest.mark.servers

MINUTES, AFTER = 300, 30


def restless(now: float, *, stored: bool) -> Counters:
    """Calls spread widely and narrowly by turns; at the deploy all get slower."""
    rng = np.random.default_rng(3)
    wide = np.where(np.arange(MINUTES) // 20 % 2, 2.0, 0.5)[None, :]
    calls = np.full((1, MINUTES), 60)
    means, within_all = single_calls(rng, wide, calls)
    level = 0.01 * np.where(np.arange(MINUTES) < MINUTES - AFTER, 1.0, 1.6)
    means, within = level * means[0], level**2 * within_all[0]
    one = counters(
        means,
        60.0,
        queryid="with" if stored else "without",
        at=now - 60.0 * MINUTES / 2,
    )
    squares = 1.0 + np.concatenate([[0.0], np.cumsum(within + 60.0 * means**2)])
    return replace(one, squares=squares) if stored else one


def test_a_query_whose_squares_are_stored_is_weighed_by_the_spread_of_its_calls(
    tmp_path: Path,
):
    now = float(round(time.time()))
    series = [restless(now, stored=stored) for stored in (True, False)]
    prometheus = Prometheus(fetch.debian_tool("prometheus"))
    backfill(prometheus, openmetrics_of(series))
    at = f"--at={now - 60.0 * AFTER:.0f}"

    with prometheus:
        config = write(tmp_path, {"prometheus": {"url": prometheus.url}})
        judged = evaluator("deploy", at, "--format=json", config=config)
        with_squares, without = (
            evaluator("explain", queryid, at.replace("--at", "--deploy"), config=config)
            for queryid in ("with", "without")
        )

    p_values = {name: one["p_value"] for name, one in judged.queries.items()}
    assert p_values["with"] < p_values["without"] / 100, json.dumps(p_values)
    calls = "by the number of their calls"
    assert f"{calls} and by their dispersion" in with_squares.output
    assert f"{calls}; the dispersion of single calls was not" in without.output
