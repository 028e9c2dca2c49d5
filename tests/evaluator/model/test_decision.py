"""What a report as a whole comes to, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluator.model import (
    DataQuality,
    DecisionKind,
    Level,
    Outcome,
    Reason,
    Report,
    Settings,
)
from evaluator.sinks.headline import describe_decision
from tests.builders import DEPLOY_AT, deploy, finding

SLOWER = [finding(Level.ALERT)]


def fine(count=1):
    return [replace(finding(Level.WATCH), outcome=Outcome.NO_REGRESSION)] * count


def elsewhere(count=1):
    return [replace(finding(Level.WATCH), outcome=Outcome.BACKGROUND_CHANGE)] * count


def unknown(count=1):
    rare = replace(
        finding(Level.WATCH), outcome=Outcome.INSUFFICIENT_DATA, reason="too few calls"
    )
    return [rare] * count


def pending(count=1):
    return [replace(finding(Level.WATCH), outcome=Outcome.PENDING)] * count


WARNED = {"quality": DataQuality(warnings=("a store is down",))}


@pytest.mark.parametrize(
    ("verdicts", "more", "reason", "said"),
    [
        ([*SLOWER, *unknown(50)], {}, Reason.DETECTED, "1 query slower"),
        ([*SLOWER, *fine()], WARNED, Reason.DETECTED, "1 query slower"),
        ([*SLOWER, *pending(5)], {"share": 0.5}, Reason.DETECTED, "1 query slower"),
        (fine(5), {}, Reason.NONE_DETECTED, "no query found slower"),
        (elsewhere(5), {}, Reason.NONE_DETECTED, "no query found slower"),
        ([*fine(5), *unknown(5)], {}, Reason.NONE_DETECTED, "no query found slower"),
        (
            [*fine(5), *unknown(6)],
            {},
            Reason.MOSTLY_UNJUDGED,
            "6 of 11 queries not judged",
        ),
        (pending(2), {}, Reason.MOSTLY_UNJUDGED, "2 of 2 queries not judged"),
        (pending(2), {"share": 0.5}, Reason.WINDOW_OPEN, "window has not passed yet"),
        (fine(5), WARNED, Reason.PARTIAL_DATA, "partial: a store is down"),
        ([], {}, Reason.NO_QUERIES, "no query was seen"),
        (
            [],
            {"failure": "no samples"},
            Reason.NOT_JUDGED,
            "nothing could be judged: no samples",
        ),
    ],
)
def test_each_reason_with_its_kind_and_its_words(verdicts, more, reason, said):
    report = Report(deploy(), DEPLOY_AT, Settings(), tuple(verdicts), **more)

    assert report.decision.reason is reason
    assert report.decision.kind is KINDS[reason]
    assert said in describe_decision(report)


KINDS = {
    Reason.DETECTED: DecisionKind.REGRESSED,
    Reason.CALL_FLOOD: DecisionKind.REGRESSED,
    Reason.COST_MOVED: DecisionKind.CLEAR,
    Reason.NONE_DETECTED: DecisionKind.CLEAR,
    Reason.MOSTLY_UNJUDGED: DecisionKind.UNDECIDED,
    Reason.WINDOW_OPEN: DecisionKind.UNDECIDED,
    Reason.PARTIAL_DATA: DecisionKind.UNDECIDED,
    Reason.NO_QUERIES: DecisionKind.UNDECIDED,
    Reason.NOT_JUDGED: DecisionKind.FAILED,
}


def test_every_reason_has_one_kind():
    assert set(KINDS) == set(Reason)
