"""The loop: what is done when."""

from __future__ import annotations

from dataclasses import replace

from evaluator.model import DecisionKind, Outcome
from evaluator.service.ledger import Ledger
from evaluator.sources.surroundings import Found
from evaluator.triggers.port import Mark
from tests.builders import DEPLOY_AT, deploy

from .world import DUE, SCHEDULE


def test_a_deploy_waits_until_its_window_has_passed(world, service):
    service.round()

    assert world.published == []
    assert world.pending() == 1


def test_a_due_deploy_is_judged_published_and_shown(world, service):
    world.now = DUE
    service.round()

    (report,) = world.published
    assert [v.outcome for v in report.verdicts] == [Outcome.DETECTED]
    assert world.pending() == 0
    assert world.last_success("publish") == DUE


def test_a_deploy_is_published_once_however_many_rounds_follow(world, service):
    world.now = DUE
    for _ in range(3):
        service.round()

    assert len(world.published) == 1


def test_verdicts_leave_the_metrics_after_their_retention(world, service):
    world.now = DUE
    service.round()
    name, labels = "deploy_failed", {"service": "shop", "environment": ""}
    assert world.metric(name, **labels, deploy="grafana-1") == 0

    world.now = DEPLOY_AT + SCHEDULE.retention + 1
    service.round()
    assert world.metric(name, **labels, deploy="grafana-1") is None


def test_samples_that_do_not_reach_the_window_are_noted(world, service):
    world.reading = replace(world.reading, first=DEPLOY_AT - 900, last=DEPLOY_AT + 600)
    world.now = DUE
    service.round()

    oldest, newest = world.published[0].notes
    assert "15 min after the window's start" in oldest
    assert "20 min before the window's end" in newest


def test_another_deploy_in_the_window_is_named_as_a_cause(world, service):
    world.trigger.announced = [Mark(deploy()), Mark(deploy(DEPLOY_AT + 60, id="b"))]
    service.round()
    world.now = DUE
    service.round()

    (report,) = [one for one in world.published if one.subject.id == "grafana-1"]
    (verdict,) = report.detected
    assert not verdict.external_cause, "the other is farther from the change"
    assert [cause.kind for cause in verdict.causes] == ["other_deploy"]


def test_what_could_not_be_found_out_is_noted_and_costs_no_verdict(world, service):
    world.context = Found(notes=("the plans are not known",))
    world.now = DUE
    service.round()

    (report,) = world.published
    assert report.detected
    assert "the plans are not known" in report.notes


def test_without_a_place_to_publish_verdicts_are_on_metrics_only(world, ledger):
    service = world.service(ledger, outside=replace(world.outside(), publish=None))
    world.now = DUE

    service.round()

    assert world.queries("detected") == 1
    assert world.last_success("publish") == DUE
    assert world.errors("publish") == 0


def test_what_had_no_place_is_published_once_there_is_one(world, tmp_path):
    path = str(tmp_path / "state.sqlite")
    world.now = DUE
    with Ledger(path) as ledger:
        world.service(ledger, outside=replace(world.outside(), publish=None)).round()

    with Ledger(path) as ledger:
        world.service(ledger).round()

    (report,) = world.published
    assert report.decision.kind is DecisionKind.REGRESSED
