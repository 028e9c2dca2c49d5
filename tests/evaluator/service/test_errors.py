"""What becomes of each error that the loop meets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from evaluator.errors import SourceError, UnsureWriteError
from evaluator.model import DataQuality, DecisionKind
from evaluator.triggers.port import Mark
from tests.builders import deploy

from .world import DUE, SCHEDULE


def test_a_partial_answer_is_never_judged(world, service):
    world.reading = replace(
        world.reading, quality=DataQuality(series=1, warnings=("store down",))
    )
    world.now = DUE
    service.round()

    assert world.published == []
    assert world.errors("judge") == 1
    assert world.pending() == 1


def test_a_deploy_that_could_not_be_read_is_judged_in_the_next_round(world, service):
    world.read_error = SourceError("prometheus answered 503")
    world.now = DUE
    service.round()
    world.read_error = None
    world.now = DUE + 60

    service.round()

    assert len(world.published) == 1


def test_what_cannot_be_read_for_long_is_asked_for_less_and_less_often(world, service):
    world.read_error = SourceError("prometheus answered 503")
    tries = []
    for minute in range(121):
        world.now = DUE + 60 * minute
        before = world.errors("judge") or 0
        service.round()
        if world.errors("judge") > before:
            tries.append(minute)

    assert tries[:6] == [0, 1, 2, 3, 4, 5]
    assert tries[-3:] == [90, 105, 120]  # Quarter of an hour at the most.


def test_one_deploy_that_cannot_be_read_does_not_hold_up_the_next(world, ledger):
    world.trigger.announced = [Mark(deploy(id="a")), Mark(deploy(id="b"))]
    read = world.read

    def read_all_but_a(one, start, end):
        if one.id == "a":
            raise SourceError("no samples")
        return read(one, start, end)

    service = world.service(
        ledger, outside=replace(world.outside(), read=read_all_but_a)
    )
    world.now = DUE
    service.round()

    assert [report.subject.id for report in world.published] == ["b"]


def test_what_never_could_be_judged_is_reported_as_failed_at_the_end(world, service):
    world.read_error = SourceError("no samples")
    world.now = DUE
    service.round()
    world.now = DUE + SCHEDULE.give_up_after
    service.round()

    (report,) = world.published
    assert report.failure == "no samples"
    assert report.decision.kind is DecisionKind.FAILED
    assert report.verdicts == ()


@pytest.mark.parametrize("error", [SourceError("403"), UnsureWriteError("no answer")])
def test_a_verdict_that_could_not_be_published_is_published_later(
    world, service, error
):
    world.publish_error = error
    world.now = DUE
    service.round()
    assert world.errors("publish") == 1
    assert world.pending() == 0

    world.publish_error = None
    service.round()
    assert len(world.published) == 1


def test_a_dead_trigger_does_not_hold_up_what_was_found(world, service):
    service.round()
    world.trigger.error = SourceError("grafana could not be reached")
    world.now = DUE
    service.round()

    assert len(world.published) == 1
    assert world.errors("discover") == 1
    assert world.last_success("round") == DUE
    assert world.last_success("discover") < DUE


def test_the_same_error_is_logged_once_and_counted_each_time(world, service):
    world.trigger.error = SourceError("grafana could not be reached")

    with capture_logs() as lines:
        for _ in range(3):
            service.round()

    assert [line["event"] for line in lines] == ["step failed"]
    assert world.errors("discover") == 3


def test_a_defect_in_one_step_does_not_end_the_watch(world, service):
    world.trigger.error = ZeroDivisionError()
    with capture_logs():
        service.round()
    world.trigger.error = None
    service.round()

    assert world.errors("discover") == 1
    assert world.pending() == 1


def test_a_decision_survives_the_end_of_the_process(world, service, ledger):
    """Killed between deciding and publishing: the next process publishes."""
    world.publish_error = UnsureWriteError("killed here")
    world.now = DUE
    service.round()

    world.publish_error = None
    world.read_error = SourceError("must not be read again")
    world.service(ledger).round()

    assert len(world.published) == 1


def test_what_is_unclear_about_the_data_is_logged_with_the_verdict(world, service):
    world.reading = replace(world.reading, events=("the same statements come twice",))
    service.round()
    world.now = DUE

    with capture_logs() as lines:
        service.round()

    unclear = [line["why"] for line in lines if line["event"] == "data unclear"]
    assert unclear == ["the same statements come twice"]
