"""A report as a person and as a program read it."""

from __future__ import annotations

import json

import numpy as np

from evaluator.engine.judge import judge
from evaluator.model import Report, Settings
from evaluator.sinks.report import to_json, to_table
from tests.builders import DEPLOY_AT, counters, deploy, noise

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
        judge(series, deploy(), CLASSIC),
        **fields,
    )


def test_the_table_lists_findings_by_cost_and_counts_the_rest():
    lines = to_table(_report(notes=("the oldest sample is young",))).splitlines()

    assert lines[0].startswith("deploy shop v42 at 2026-09-21T14:13:20Z, 30 min before")
    assert lines[2].split() == [
        *("factor", "before", "after", "costs", "p", "q", "changed", "query")
    ]
    assert "queryid 2" in lines[3]
    assert "queryid 1" in lines[4]
    assert lines[6] == (
        "4 queries: 2 detected, 1 without a regression, 1 with too little data to tell"
    )
    assert lines[7] == "note: the oldest sample is young"


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


def test_a_report_that_failed_says_so_and_not_that_nothing_was_found():
    failed = Report(deploy(), DEPLOY_AT, Settings(), (), failure="no samples")

    assert to_table(failed).splitlines()[-1] == "could not be judged: no samples"
    assert json.loads(to_json(failed))["failure"] == "no samples"


def test_no_query_at_all_is_not_called_clear():
    empty = Report(deploy(), DEPLOY_AT, Settings(), ())

    assert to_table(empty).splitlines()[-1] == "0 queries: nothing to judge"
