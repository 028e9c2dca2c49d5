"""The service: what it shows, how it ends, and that it reports nothing twice."""

from __future__ import annotations

import pytest

from lab import shop
from lab.faults import Fault
from lab.grafana import Grafana
from lab.process import PATIENCE
from lab.timelapse import STEP

from ..recording.jobs import WINDOW
from .watching import watching

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

TAGS = ("deploy", "service:shop", "environment:production", "version:v42")


@pytest.fixture
def grafana():
    with Grafana() as grafana:
        yield grafana


def test_a_verdict_is_shown_as_metrics_and_as_one_annotation(recording, grafana):
    deploy = grafana.post_deploy(TAGS, at=recording.truth.at)
    with watching(recording, grafana) as watch:
        watch.wait_for(lambda: bool(watch.verdicts()), "a verdict")
        watch.wait_for_rounds()

        (verdict,) = watch.verdicts()
        metrics = watch.metrics
        code = watch.evaluator.process.stop()

    about = {
        "service": "shop",
        "environment": "production",
        "deploy": f"grafana-{deploy}",
    }
    ((labels, value),) = metrics.of("query_regressed")
    assert value == 1
    assert labels.items() >= {**about, "queryid": recording.truth.slowed}.items()
    assert labels["user"] == shop.USER
    assert labels["datname"] == shop.DATABASE
    assert labels["toplevel"] == "true"
    before = metrics.value("query_mean_seconds", window="before")
    after = metrics.value("query_mean_seconds", window="after")
    assert metrics.value("query_factor") == pytest.approx(after / before)
    assert metrics.value("query_p_value") < 0.05
    assert metrics.value("query_extra_seconds_per_second") > 0
    assert metrics.value("query_change_timestamp_seconds") == pytest.approx(
        recording.truth.at, abs=5 * STEP
    )
    assert metrics.value("deploy_queries", **about, outcome="detected") == 1
    unchanged = metrics.value("deploy_queries", **about, outcome="no_regression")
    assert unchanged == len(shop.STATEMENTS) - 1
    assert metrics.value("deploys_pending") == 0
    assert {value for _, value in metrics.of("errors_total")} == {0}

    assert verdict["time"] == round(recording.truth.at * 1000)
    assert verdict["timeEnd"] == round((recording.truth.at + 60 * WINDOW) * 1000)
    assert "pgverdict-outcome:regressed" in verdict["tags"]
    assert recording.truth.slowed in verdict["text"]
    assert code == 0


@pytest.mark.parametrize("stored", [False, True], ids=["lost", "stored"])
def test_killed_while_it_writes_a_verdict_it_still_makes_exactly_one(
    recording, grafana, stored
):
    deploy = grafana.post_deploy(TAGS, at=recording.truth.at)
    # Grafana says nothing to the verdict, and has stored it or has not.
    grafana.faults.append(Fault(method="POST", delay=PATIENCE, stored=stored))
    with watching(recording, grafana) as watch:
        watch.wait_for(lambda: posts(grafana) == 1, "a verdict on its way")
        watch.evaluator.process.kill()
        watch.wait_for(lambda: len(watch.verdicts()) == stored, "what Grafana stored")

        watch.evaluator.start()
        watch.wait_for(
            lambda: bool(
                watch.metrics.of("last_success_timestamp_seconds", step="publish")
            ),
            "a publication without an error",
        )
        watch.wait_for_rounds()

        assert len(watch.verdicts(deploy)) == 1
        assert posts(grafana) == (1 if stored else 2)
        assert watch.metrics.value("query_regressed") == 1
        assert watch.metrics.value("deploys_pending") == 0


def posts(grafana):
    return sum(request.method == "POST" for request in grafana.requests)
