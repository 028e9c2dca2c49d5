"""A cause reads as a sentence; its numbers come from the engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluator.model import Cause, CauseKind, Drift, Shift
from evaluator.sinks.cause_sentences import cause_sentence, with_sentences
from tests.builders import DEPLOY_AT, deploy

FLAT = ", while its blocks per call stayed the same"
ROSE = Shift(DEPLOY_AT + 60, 1.0, 3.0, 1e-9)
FELL = Shift(DEPLOY_AT, 3.0, 1.0, 1e-9)


@pytest.mark.parametrize(
    ("kind", "external", "values", "sentence"),
    [
        (
            CauseKind.COMMON_SHIFT,
            True,
            {"others": 3, "slower": 2, "factor": 1.5, "blocks_unchanged": True},
            "2 of 3 other queries of the server got slower by more than half as much, "
            f"too (median factor 1.50){FLAT}",
        ),
        (
            CauseKind.COMMON_SHIFT,
            True,
            {"factor": 1.5},
            "the queries of the server share an abrupt rise by a factor 1.50",
        ),
        (
            CauseKind.RESTART,
            True,
            {"at": DEPLOY_AT - 90},
            "the server restarted 1.5 min before the deploy",
        ),
        (
            CauseKind.RESTART,
            True,
            {"at": DEPLOY_AT + 2, "another_server": True},
            "another server answers, first seen at the deploy",
        ),
        (
            CauseKind.OTHER_DEPLOY,
            False,
            {"deploy": deploy(DEPLOY_AT + 240, version="7"), "distance": 90.0},
            "another deploy, shop 7, 4.0 min after the deploy, 1.5 min from the change",
        ),
        (
            CauseKind.OTHER_DEPLOY,
            True,
            {"deploy": deploy(id="grafana-9", service=""), "distance": 0.0},
            "another deploy, grafana-9, at the deploy, 0.0 min from the change",
        ),
        (
            CauseKind.CONTEXT,
            True,
            {"measure": "cpu", "shift": ROSE, "blocks_unchanged": True},
            f"cpu changed 1.0 min after the deploy from 1 to 3{FLAT}",
        ),
        (
            CauseKind.CONTEXT,
            False,
            {"measure": "cpu", "shift": ROSE, "may_follow": True},
            "cpu changed 1.0 min after the deploy from 1 to 3; may follow from the "
            "query, which does more work itself per call",
        ),
        (
            CauseKind.CALL_RATE,
            True,
            {"shift": ROSE},
            "calls of the query per second rose 1.0 min after the deploy from 1 to 3",
        ),
        (
            CauseKind.CALL_RATE,
            False,
            {"shift": FELL},
            "calls of the query per second fell at the deploy from 3 to 1; may follow "
            "from the longer wait",
        ),
        (
            CauseKind.ROWS_PER_CALL,
            False,
            {"shift": ROSE},
            "rows per call rose 1.0 min after the deploy from 1 to 3: other data or "
            "other parameters",
        ),
        (
            CauseKind.BLOCKS_PER_CALL,
            False,
            {"shift": FELL},
            "blocks per call fell at the deploy from 3 to 1: other data, parameters or "
            "plan, not contention",
        ),
        (CauseKind.RESTART, True, {"stored_text": "as it was"}, "as it was"),
    ],
)
def test_each_kind_of_cause_reads_like_this(kind, external, values, sentence):
    cause = Cause(kind, external, **values)

    assert cause_sentence(cause, deploy()) == sentence


def test_beside_a_drift_the_moment_is_relative_to_that():
    drift = Drift("d", "db1:9719", DEPLOY_AT - 600, DEPLOY_AT)
    cause = Cause(CauseKind.RESTART, external=True, at=DEPLOY_AT + 60)

    assert cause_sentence(cause, drift) == (
        "the server restarted 1.0 min after the drift"
    )


def test_two_exporters_that_see_one_restart_report_it_once():
    seen = Cause(CauseKind.RESTART, external=True, at=DEPLOY_AT + 60)
    also = replace(seen, at=DEPLOY_AT + 60.4)

    assert [cause for cause, _ in with_sentences((seen, also), deploy())] == [seen]


@pytest.mark.parametrize("kind", CauseKind)
def test_a_cause_without_its_numbers_cannot_be_made(kind):
    with pytest.raises(ValueError, match=f"a cause of kind {kind} needs"):
        Cause(kind, external=True)
