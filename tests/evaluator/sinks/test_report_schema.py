"""Every report is what docs/report.schema.json promises to programs."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from evaluator.cli import main
from evaluator.model import (
    Cause,
    CauseKind,
    DataQuality,
    DecisionKind,
    Drift,
    Level,
    Outcome,
    PlanChange,
    Reason,
    Report,
    Settings,
    Shift,
)
from evaluator.sinks.json import SCHEMA_VERSION, to_json
from tests.builders import DEPLOY_AT, KEY, counters, deploy, finding, judged, noise
from tests.evaluator.test_golden import GOLDEN

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs" / "report.schema.json").read_text("utf-8")
)
SHIFT = Shift(DEPLOY_AT, 1.0, 2.0, 1e-9)
CAUSES: dict[CauseKind, dict[str, Any]] = {
    CauseKind.COMMON_SHIFT: {"factor": 1.5, "others": 4, "slower": 3},
    CauseKind.CALL_RATE: {"shift": SHIFT},
    CauseKind.ROWS_PER_CALL: {"shift": SHIFT},
    CauseKind.BLOCKS_PER_CALL: {"shift": SHIFT},
    CauseKind.CONTEXT: {"measure": "cpu", "shift": SHIFT, "blocks_unchanged": True},
    CauseKind.RESTART: {"at": DEPLOY_AT, "another_server": True},
    CauseKind.OTHER_DEPLOY: {"deploy": deploy(id="b"), "distance": 60.0},
}
PLAN = PlanChange("Index Scan a_pkey on a", "Seq Scan a", ("Index Scan a",), ("Seq",))


def with_closed_objects() -> Any:
    """The schema without leave for further fields: what we write must be described."""
    schema = deepcopy(SCHEMA)
    for part in (schema, *schema["$defs"].values()):
        part["additionalProperties"] = False
    return schema


VALIDATOR = jsonschema.Draft202012Validator(with_closed_objects())


def problems(document: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(document)]


def report(*verdicts, subject=None, settings=None, **more):
    return Report(
        subject or deploy(version="v42", marks=("grafana-1",)),
        DEPLOY_AT + 1900,
        settings or Settings(),
        tuple(verdicts),
        **more,
    )


def report_of(engine):
    rng = np.random.default_rng(2)
    step = np.where(np.arange(60) < 30, 1.0, 1.5)
    series = [
        counters(0.01 * noise(rng) * step, queryid="slower"),
        counters(0.01 * noise(rng), queryid="unchanged"),
        counters(np.full(4, 0.01), queryid="rare"),
        counters(np.zeros(60), queryid="no time"),
        counters(0.01 * np.where(np.arange(60) < 12, 1.0, 3.0), queryid="earlier"),
    ]
    settings = Settings(engine=engine)
    return report(*judged(series, deploy(), settings), settings=settings)


unchanged = replace(finding(Level.WATCH), outcome=Outcome.NO_REGRESSION)
rare = replace(
    finding(Level.WATCH), outcome=Outcome.INSUFFICIENT_DATA, reason="too few calls"
)
pending = replace(finding(Level.WATCH), outcome=Outcome.PENDING)
REPORTS = {
    "regressed, calibrated": (report_of("calibrated"), Reason.DETECTED),
    "regressed, classic": (report_of("classic"), Reason.DETECTED),
    "clear": (report(unchanged), Reason.NONE_DETECTED),
    "time unjudged": (report(rare), Reason.TIME_UNJUDGED),
    "window open": (report(pending, share=0.5), Reason.WINDOW_OPEN),
    "partial": (
        report(unchanged, quality=DataQuality(1, 0, ("a store is down",))),
        Reason.PARTIAL_DATA,
    ),
    "no queries": (report(), Reason.NO_QUERIES),
    "failed": (report(failure="prometheus answered 503"), Reason.NOT_JUDGED),
    "drift of a query": (
        report(
            finding(Level.ALERT),
            subject=Drift("d1", KEY.instance, DEPLOY_AT - 60, DEPLOY_AT, KEY),
        ),
        Reason.DETECTED,
    ),
    "drift of a server": (
        report(unchanged, subject=Drift("d2", KEY.instance, DEPLOY_AT, DEPLOY_AT)),
        Reason.NONE_DETECTED,
    ),
}


def test_the_schema_is_one_and_its_version_is_ours():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    assert SCHEMA["$id"] == f"urn:pgverdict:report:{SCHEMA_VERSION}"
    assert SCHEMA["properties"]["schema_version"] == {"const": SCHEMA_VERSION}


@pytest.mark.parametrize(("made", "reason"), REPORTS.values(), ids=REPORTS)
def test_a_report_of_every_kind_is_valid(made, reason):
    document = json.loads(to_json(made))

    assert problems(document) == []
    assert document["decision"]["reason"] == reason


def test_every_decision_and_every_reason_is_among_them():
    made = [one.decision for one, _ in REPORTS.values()]

    assert {decision.kind for decision in made} == set(DecisionKind)
    assert {decision.reason for decision in made} == set(Reason)


@pytest.mark.parametrize("kind", CauseKind)
def test_a_cause_of_every_kind_is_valid_and_has_its_values(kind):
    cause = Cause(kind, external=False, **CAUSES[kind])
    made = report(replace(finding(Level.ALERT), causes=(cause,), plan_change=PLAN))

    document = json.loads(to_json(made))

    assert problems(document) == []
    (shown,) = document["queries"][0]["external_causes"]
    assert set(shown) == {"kind", "evidence", "external", *CAUSES[kind]}


@pytest.mark.parametrize("engine", ["calibrated", "classic"])
def test_what_replay_prints_is_valid(engine, capsys):
    main(
        [
            "replay",
            str(GOLDEN / "capture.json"),
            *("--deploy-time", "1790000000", "--engine", engine, "--format", "json"),
        ]
    )

    assert problems(json.loads(capsys.readouterr().out)) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.pop("decision"),
        lambda document: document.pop("deploy"),
        lambda document: document.update(drift={}),
        lambda document: document.update(schema_version=2),
        lambda document: document.update(surprise=1),
        lambda document: document.update(failure="both judged and failed"),
        lambda document: document["decision"].update(kind="clear"),
        lambda document: document["decision"].update(reason="no_queries"),
        lambda document: document["queries"][0].pop("factor"),
        lambda document: document["queries"][0].update(p_value="small"),
        lambda document: document["queries"][0]["external_causes"][0].pop("shift"),
    ],
)
def test_what_breaks_the_promise_is_noticed(spoil):
    cause = Cause(CauseKind.CALL_RATE, external=True, shift=SHIFT)
    made = report(replace(finding(Level.ALERT), causes=(cause,)))
    document = json.loads(to_json(made))
    assert problems(document) == []

    spoil(document)

    assert problems(document) != []
