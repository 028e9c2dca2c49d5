"""A report as a person and as a program read it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from evaluator.model import Level, PlanChange, Report, Settings
from evaluator.sinks.json import to_json
from evaluator.sinks.text import to_table
from tests.builders import DEPLOY_AT, counters, deploy, finding, judged, noise

CLASSIC = Settings(engine="classic")


def _report(**fields):
    rng = np.random.default_rng(2)
    step = np.where(np.arange(60) < 30, 1.0, 1.5)
    series = [
        counters(0.01 * noise(rng) * step, queryid="1"),
        counters(0.02 * noise(rng) * step**2, queryid="2"),
        counters(0.01 * noise(rng), queryid="3"),
        counters(np.full(4, 0.01), queryid="4"),
    ]
    return Report(
        deploy(version="v42"),
        DEPLOY_AT + 1900,
        CLASSIC,
        judged(series, deploy(), CLASSIC),
        **fields,
    )


def test_the_table_lists_findings_by_cost_and_counts_the_rest():
    lines = to_table(_report(notes=("the oldest sample is young",))).splitlines()

    assert lines[0].startswith("deploy shop v42 at 2026-09-21T14:13:20Z, 30 min before")
    assert lines[1] == "regressed: 2 queries slower"
    assert lines[3].split() == [
        *("factor", "before", "after", "costs", "p", "q-value", "changed", "query")
    ]
    assert "queryid 2" in lines[4]
    assert "queryid 1" in lines[5]
    assert lines[7] == (
        "4 queries: 2 detected, 1 without a regression, 1 with too little data to tell "
        "(0.9 % of the execution time after the deploy)"
    )
    assert lines[8] == "note: the oldest sample is young"


def test_all_queries_are_listed_with_the_reason_when_asked_for():
    table = to_table(_report(), everything=True)

    assert "queryid 3: no_regression at prefilter" in table
    assert "queryid 4: 2 of 10 intervals before the deploy" in table


def test_numbers_of_steps_not_reached_are_left_out_of_the_json():
    document = json.loads(to_json(_report()))

    detected, _, unchanged, insufficient = document["queries"]
    assert detected["verdict"] == "detected"
    assert {"t", "nu", "p_nominal", "score", "q", "change_at"} <= detected.keys()
    assert "factor" in unchanged
    assert "q" not in unchanged
    assert "factor" not in insufficient
    assert insufficient["reason"].startswith("2 of 10 intervals")


def test_every_query_has_the_fields_of_the_calibrated_engine():
    settings = Settings()
    series = [
        counters(0.01 * np.where(np.arange(60) < 30, 1.0, 1.5), queryid="slower"),
        counters(np.full(60, 0.01), queryid="unchanged"),
        counters(np.full(4, 0.01), queryid="rare"),
    ]
    verdicts = judged(series, deploy(), settings)

    document = json.loads(to_json(Report(deploy(), DEPLOY_AT, settings, verdicts)))

    asked_for = {
        *("p_value", "q_value", "level", "phi", "no_change_bound"),
        *("factor_low", "factor_high", "extra_seconds_per_second"),
        *("external_causes", "plan_change"),
    }
    queries = {query["queryid"]: query for query in document["queries"]}
    for query in queries.values():
        assert asked_for <= query.keys()
    assert queries["slower"]["level"] == "alert"
    assert queries["slower"]["factor_low"] < 1.5 < queries["slower"]["factor_high"]
    assert queries["unchanged"]["level"] is None
    assert queries["unchanged"]["p_value"] > 0.05
    assert queries["rare"]["p_value"] is None


def test_a_changed_plan_stands_in_the_json_with_its_caution():
    change = PlanChange("Index Scan a_pkey on a", "Seq Scan a")
    one = replace(finding(Level.ALERT), plan_change=change)

    (query,) = json.loads(to_json(Report(deploy(), DEPLOY_AT, Settings(), (one,))))[
        "queries"
    ]

    assert query["plan_change"]["after"] == "Seq Scan a"
    assert "generic plans are estimates" in query["plan_change"]["caution"]


def test_a_report_that_failed_says_so_and_not_that_nothing_was_found():
    failed = Report(deploy(), DEPLOY_AT, Settings(), (), failure="no samples")

    assert to_table(failed).splitlines()[-1] == "could not be judged: no samples"
    assert json.loads(to_json(failed))["failure"] == "no samples"


def test_no_query_at_all_is_not_called_clear():
    empty = Report(deploy(), DEPLOY_AT, Settings(), ())

    assert to_table(empty).splitlines()[-1] == "0 queries: nothing to judge"
