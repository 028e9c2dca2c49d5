"""Verdicts as Prometheus sees them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from evaluator.model import Report, Settings
from evaluator.sinks.gauges import Gauges
from tests.builders import DEPLOY_AT, counters, deploy, judged, noise

LABELS = {
    "server": "db1:9719",
    "datname": "shop",
    "user": "app",
    "queryid": "0",
    "toplevel": "true",
    "service": "shop",
    "environment": "",
    "deploy": "grafana-1",
}


@pytest.fixture
def registry():
    return CollectorRegistry()


def _report(count=1):
    rng = np.random.default_rng(3)
    step = np.where(np.arange(60) < 30, 1.0, 1.5)
    series = [
        counters(0.01 * noise(rng) * step, calls=40 + i, queryid=str(i))
        for i in range(count)
    ]
    verdicts = judged(series, deploy(), Settings(engine="calibrated"))
    return Report(deploy(), DEPLOY_AT + 1900, Settings(engine="calibrated"), verdicts)


def test_a_detected_query_carries_the_numbers_of_its_verdict(registry):
    report = _report()
    (verdict,) = report.detected

    Gauges(registry).show([report], pending=0)

    def value(name, **more):
        return registry.get_sample_value(f"pgverdict_query_{name}", LABELS | more)

    assert value("regressed", external_cause="false", shared="false") == 1
    assert value("factor") == verdict.effect.factor
    assert value("mean_seconds", window="before") == verdict.effect.before
    assert value("mean_seconds", window="after") == verdict.effect.after
    assert value("p_value") == verdict.p_value
    assert value("q_value") == verdict.significance.q_value
    assert value("change_timestamp_seconds") == verdict.change.at
    assert value("extra_seconds_per_second") == verdict.effect.extra_seconds_per_second


def test_every_outcome_of_a_deploy_is_counted_the_zeros_too(registry):
    Gauges(registry).show([_report()], pending=0)

    text = generate_latest(registry).decode()
    counts = [line for line in text.splitlines() if "deploy_queries{" in line]
    assert len(counts) == 5
    assert any(
        'outcome="detected"' in line and line.endswith(" 1.0") for line in counts
    )


def test_a_deploy_that_could_not_be_judged_is_marked(registry):
    failed = replace(_report(), verdicts=(), failure="no samples")

    Gauges(registry).show([failed], pending=0)

    labels = {k: LABELS[k] for k in ("service", "environment", "deploy")}
    assert registry.get_sample_value("pgverdict_deploy_failed", labels) == 1


def test_verdicts_disappear_with_their_report(registry):
    gauges = Gauges(registry)
    gauges.show([_report()], pending=0)
    gauges.show([], pending=3)

    assert "pgverdict_query_regressed{" not in generate_latest(registry).decode()
    assert registry.get_sample_value("pgverdict_deploys_pending") == 3


def test_one_deploy_cannot_flood_prometheus_and_all_are_counted(registry):
    report = _report(count=8)

    Gauges(registry, max_queries=3).show([report], pending=0)

    text = generate_latest(registry).decode()
    assert text.count("pgverdict_query_regressed{") == 3
    # The costliest: the most calls at the same rise, up to noise.
    assert f'queryid="{report.detected[0].key.queryid}"' in text
    assert 'outcome="detected",service="shop"} 8.0' in text


def test_errors_are_counted_from_zero_for_every_step(registry):
    gauges = Gauges(registry)
    gauges.failed("judge")

    def errors(step):
        return registry.get_sample_value("pgverdict_errors_total", {"step": step})

    assert [errors(s) for s in ("discover", "judge", "publish", "round")] == [
        0,
        1,
        0,
        0,
    ]
