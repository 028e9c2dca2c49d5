"""A regression that something else may explain is marked as such, not hidden."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from evaluator.engine import DETECTORS
from evaluator.model import (
    Cause,
    CauseKind,
    Level,
    PlanChange,
    Report,
    Settings,
    Shift,
)
from evaluator.sinks.annotations import draft_of
from evaluator.sinks.explanation import explain_verdict
from evaluator.sinks.gauges import Gauges
from evaluator.sinks.text import to_table
from tests.builders import DEPLOY_AT, counters, deploy, finding
from tests.queries import interval_means

DATA = Cause(
    CauseKind.ROWS_PER_CALL, external=False, shift=Shift(DEPLOY_AT, 10.0, 100.0, 1e-9)
)
BUSY = Cause(
    CauseKind.CONTEXT,
    external=True,
    measure="CPU use",
    shift=Shift(DEPLOY_AT, 0.2, 0.9, 1e-9),
)
MORE_ROWS = (
    "rows per call rose at the deploy from 10 to 100: other data or other parameters"
)
BUSY_CPU = "CPU use changed at the deploy from 0.2 to 0.9"


@pytest.fixture
def report():
    """Two queries got slower; the second when something else happened, too."""
    verdicts = (
        finding(Level.ALERT, "1"),
        replace(finding(Level.ALERT, "2"), causes=(DATA, BUSY)),
    )
    return Report(deploy(), DEPLOY_AT + 1900, Settings(), verdicts)


def test_the_annotation_counts_it_and_names_it_before_the_rest(report):
    lines = draft_of(report).text.splitlines()

    assert lines[0] == (
        "pgverdict: 2 queries slower after deploy shop; "
        "1 of 2 may have an external cause"
    )
    (second,) = [line for line in lines if "query 2 " in line]
    assert second.endswith(f"; external cause: {BUSY_CPU}; {MORE_ROWS}")


def test_the_table_says_that_no_alert_follows(report):
    table = to_table(report)

    assert f"queryid 2; external cause: {BUSY_CPU}; {MORE_ROWS}" in table
    assert (
        "note: 1 of 2 may have an external cause; pgverdict's rules do not alert on "
        "those"
    ) in table.splitlines()


def test_explain_says_that_no_alert_follows(report):
    (one,) = [v for v in report.verdicts if v.external_cause]
    (intervals,) = interval_means(
        [counters(np.full(60, 0.01))], DEPLOY_AT - 1800, DEPLOY_AT + 1800, max_gap=300
    )

    checks = DETECTORS[report.settings.engine].explain(one, report.settings)
    text = explain_verdict(one, checks, intervals, report, width=80)

    assert (
        "verdict: detected at family, level alert; may have an external cause, so "
        "pgverdict's rules do not alert"
    ) in text.splitlines()
    assert f"external cause: {BUSY_CPU}" in text


def test_the_gauge_lets_alerts_be_routed(report):
    registry = CollectorRegistry()

    Gauges(registry).show([report], pending=0)

    shown = {
        sample.labels["queryid"]: sample.labels["external_cause"]
        for family in registry.collect()
        for sample in family.samples
        if sample.name == "pgverdict_query_regressed"
    }
    assert shown == {"1": "false", "2": "true"}


def test_without_any_external_cause_nobody_speaks_of_one():
    plain = Report(deploy(), DEPLOY_AT, Settings(), (finding(Level.ALERT),))

    assert "external" not in draft_of(plain).text + to_table(plain)


def test_another_plan_and_another_id_are_shown_beside_the_numbers():
    change = PlanChange(
        before="Index Scan orders_store",
        after="Seq Scan orders",
        lost=("Index Scan orders_store",),
        gained=("Seq Scan orders",),
    )
    one = replace(finding(Level.ALERT), plan_change=change, replaces="17")
    found = Report(deploy(), DEPLOY_AT, Settings(), (one,))

    for shown in (draft_of(found).text, to_table(found)):
        assert "was queryid 17 before the deploy, followed as one query" in shown
        assert (
            "its generic plan, an estimate, lost Index Scan orders_store and gained "
            "Seq Scan orders"
        ) in shown
