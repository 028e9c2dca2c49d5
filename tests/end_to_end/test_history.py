"""What is asked of a day of history, in a real Prometheus that remembers it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab import fetch
from lab.grafana import Grafana
from lab.history import backfill
from lab.prometheus import Prometheus
from tests.builders import counters, noise
from tests.evaluator.backtest.test_rolling import cut_of
from tests.evaluator.history import openmetrics_of

from .commands import Ended, evaluator, write

pytestmark = pytest.mark.servers

HOUR = 3600.0
HOURS = 20
MINUTES = 60 * HOURS
QUERIES = 40
NOISE = np.linspace(0.05, 0.3, QUERIES)  # coefficient of variation of each query


@dataclass(frozen=True, slots=True)
class History:
    """A day as it is remembered, and what really happened.

    Args:
        config: of an evaluator that reads it.
        deploy: annotation of the only deploy that was marked; made ``marked`` slower.
        unmarked: when ``changed`` got slower without any mark, Unix seconds.
    """

    config: Path
    deploy: int
    at: float
    unmarked: float


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    """Forty steady queries, and some that are slower, renamed, rarer, or wilder."""
    now = float(round(time.time()))
    # The last window that has passed, and is all stored, ends 90 s ago by default.
    last = now - 1800 - 90
    unmarked, at = last - 5 * HOUR, last - 2 * HOUR - 1200
    rng = np.random.default_rng(7)
    starts = now + 60.0 * np.arange(-MINUTES, 0)

    def series(queryid: str, means: Any, calls: float = 40.0) -> Any:
        return counters(means, calls, queryid=queryid, at=now - HOURS * HOUR / 2)

    queries = [
        series(str(number), 0.01 * noise(rng, MINUTES, cv))
        for number, cv in enumerate(NOISE)
    ]
    queries += [
        series(
            "changed",
            0.02 * noise(rng, MINUTES, 0.1) * np.where(starts < unmarked, 1.0, 3.0),
        ),
        series(
            "marked", 0.02 * noise(rng, MINUTES, 0.1) * np.where(starts < at, 1.0, 2.0)
        ),
        cut_of(series("old-id", 0.02 * noise(rng, MINUTES, 0.1)), 0.0, at),
        cut_of(series("new-id", 0.05 * noise(rng, MINUTES, 0.1)), at, np.inf),
        series("rare", np.full(MINUTES, 0.01), calls=1.0),
        series("wild", 0.01 * noise(rng, MINUTES, 12.0)),
    ]
    prometheus = Prometheus(fetch.debian_tool("prometheus"))
    backfill(
        prometheus,
        openmetrics_of(queries, {"old-id": "same", "new-id": "same"}),
    )
    with prometheus, Grafana() as grafana:
        deploy = grafana.post_deploy(at=at)
        folder = tmp_path_factory.mktemp("history")
        (folder / "token").write_text(grafana.add_token("Editor"))
        config = {
            "prometheus": {"url": prometheus.url},
            "grafana": {"url": grafana.url, "token_file": str(folder / "token")},
        }
        yield History(write(folder, config), deploy, at, unmarked)


@pytest.fixture(scope="module")
def backtested(history: History) -> Ended:
    return evaluator("backtest", "--since=12h", "--format=json", config=history.config)


def test_backtest_judges_a_moment_of_every_hour_but_not_beside_the_deploy(backtested):
    document = backtested.report

    assert backtested.code == 0
    assert document["near_deploys"] >= 1
    assert document["judged"] == document["planned"] == 12 - document["near_deploys"]
    assert document["empty"] == 0
    assert [one["engine"] for one in document["engines"]] == ["calibrated", "classic"]
    for result in document["engines"]:
        rate = result["per_thousand"]
        assert rate["low"] < rate["value"] < rate["high"]
        assert result["judged"] == document["judged"] * (QUERIES + 4)


def test_backtest_names_what_changed_without_a_mark(history, backtested):
    alarms = backtested.report["false_alarms"]

    for engine in ("calibrated", "classic"):
        named = [alarm for alarm in alarms if alarm["engine"] == engine]
        (true,) = [alarm for alarm in named if alarm["key"]["queryid"] == "changed"]
        assert abs(true["at"] - history.unmarked) <= 360
        assert true["factor"] == pytest.approx(3, rel=0.2)
    false = [alarm for alarm in alarms if alarm["key"]["queryid"] != "changed"]
    # On average at most one moment in twenty may name a query, and there are eleven.
    assert sum(alarm["engine"] == "calibrated" for alarm in false) <= 2


def test_backtest_shows_which_queries_it_cannot_judge(history):
    ended = evaluator("backtest", "--since=12h", config=history.config)

    assert "backtest: 11 moments, every 60 min from" in ended.output
    assert "1 left out, less than 30 min from a known deploy" in ended.output
    assert "46 queries, of which never with enough calls: 1" in ended.output
    (noisiest,) = [
        line for line in ended.output.splitlines() if line.endswith("queryid wild")
    ][-1:]
    assert re.search(r" 0\.[1-9]\d |[1-9]\.\d\d ", noisiest)


def test_backtest_judges_as_the_service_does(history):
    ended = evaluator(
        *("backtest", "--since=4h", "--looks", "--engine=calibrated"),
        *("--format", "json"),
        config=history.config,
    )

    assert ended.code == 0
    (result,) = ended.report["engines"]
    assert result["engine"] == "calibrated"
    assert ended.report["judged"] == 3


def test_power_measures_the_noise_that_is_there(history):
    ended = evaluator(
        *("power", "--since=10h", "--engine=classic", "--format=json"),
        config=history.config,
    )

    assert ended.code == 0
    document = ended.report
    measured = {one["key"]["queryid"]: one for one in document["measured"]}
    for number, cv in enumerate(NOISE):
        one = measured[str(number)]
        assert one["cv"] == pytest.approx(cv, rel=0.15)
        assert abs(one["phi"]) < 0.15
        assert (one["calls"], one["spacing"]) == (40, 60)
    quiet, usual, noisy = (row["noise"]["cv"] for row in document["rows"])
    assert quiet < 0.1 < usual < 0.25 < noisy
    assert [size["rise"] for size in document["rows"][0]["sample_sizes"]] == [
        0.1,
        0.2,
        0.5,
    ]


def test_power_shows_calls_and_window_by_formula_and_by_the_engine(history):
    ended = evaluator("power", "--engine=classic", config=history.config)

    assert ended.code == 0
    assert "in four of five deploys, engine classic" in ended.output
    (usual,) = re.findall(r"usual query: .*\n.*\n.*\n.*\n(.*)", ended.output)
    assert re.search(r"\+50 % +\d+ +\d+ +\d+ (s|min) +\d+ +\d+ +\d+ (s|min)", usual)


def test_a_deploy_is_judged_by_the_hours_before_it(history):
    ended = evaluator(
        *("deploy", "--at", f"{history.at:.0f}", "--format", "json"),
        config=history.config,
    )

    assert ended.code == 1
    slower = ended.queries["marked"]
    assert (slower["verdict"], slower["level"]) == ("detected", "alert")
    assert slower["factor_low"] < 2 < slower["factor_high"]
    assert slower["long_history"] is True
    assert ended.report["notes"] == []


def test_a_deploy_is_explained_by_its_id(history):
    ended = evaluator(
        *("explain", "marked", "--deploy", f"grafana-{history.deploy}"),
        config=history.config,
    )

    assert ended.code == 1
    assert "verdict: detected at family, level alert" in ended.output
    assert "queries past the floors: 44" in ended.output


def test_a_statement_whose_id_changed_at_the_deploy_is_followed(history):
    ended = evaluator(
        "explain", "old-id", "--deploy", f"{history.at:.0f}", config=history.config
    )

    assert ended.code == 1
    assert ended.output.startswith("app@shop on db1:9719, queryid new-id\n")
    assert "query id: was old-id before the deploy; followed as one" in ended.output
