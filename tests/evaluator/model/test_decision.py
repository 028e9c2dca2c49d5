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
from evaluator.sinks.phrases import describe_decision
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
        ([*fine(9), *unknown(1)], {}, Reason.NONE_DETECTED, "no query found slower"),
        (
            [*fine(8), *unknown(1)],
            {},
            Reason.TIME_UNJUDGED,
            "11 % of the execution time after",
        ),
        (pending(2), {}, Reason.TIME_UNJUDGED, "100 % of the execution time"),
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
    Reason.NONE_DETECTED: DecisionKind.CLEAR,
    Reason.TIME_UNJUDGED: DecisionKind.UNDECIDED,
    Reason.WINDOW_OPEN: DecisionKind.UNDECIDED,
    Reason.PARTIAL_DATA: DecisionKind.UNDECIDED,
    Reason.NO_QUERIES: DecisionKind.UNDECIDED,
    Reason.NOT_JUDGED: DecisionKind.FAILED,
}


def test_every_reason_has_one_kind():
    assert set(KINDS) == set(Reason)


def taking(seconds, verdicts, *, unused=0.0):
    """The verdicts, each of which took that much time after the deploy."""
    return [
        replace(v, after=replace(v.after, seconds=seconds), unused_seconds=unused)
        for v in verdicts
    ]


@pytest.mark.parametrize(
    ("verdicts", "share"),
    [
        (taking(1.0, [*fine(50), *unknown(50)]), 0.5),
        ([*taking(99.0, fine(1)), *taking(0.01, unknown(100))], 1 / 100),
        ([*taking(1.0, fine(99)), *taking(33.0, unknown(1))], 0.25),
        # What was seen in intervals too long to be used was not judged either.
        ([*taking(3.0, fine(1)), *taking(0.0, unknown(1), unused=1.0)], 0.25),
        # Nothing at all is known of the time after the deploy.
        (taking(0.0, unknown(3)), 1.0),
        (taking(0.0, fine(3)), 0.0),
        ([], 0.0),
    ],
)
def test_queries_count_by_their_time_after_the_deploy(verdicts, share):
    report = Report(deploy(), DEPLOY_AT, Settings(), tuple(verdicts))

    assert report.unjudged_time == pytest.approx(share)


@pytest.mark.parametrize(("allowed", "kind"), [(0.2, "undecided"), (0.3, "clear")])
def test_the_share_that_may_go_unjudged_is_a_setting(allowed, kind):
    verdicts = (*taking(3.0, fine(1)), *taking(1.0, unknown(1)))
    settings = Settings(max_unjudged=allowed)

    assert Report(deploy(), DEPLOY_AT, settings, verdicts).decision.kind == kind
