"""The loop: what is done when, and what becomes of each error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from evaluator.errors import SourceError, UnsureWriteError
from evaluator.model import DataQuality, Outcome, Settings
from evaluator.service.ledger import Ledger
from evaluator.service.loop import Outside, Schedule, Service
from evaluator.sinks.gauges import Gauges
from evaluator.sources.readings import Reading
from evaluator.sources.surroundings import Found
from evaluator.triggers.annotation_patterns import Mark
from tests.builders import DEPLOY_AT, counters, deploy, noise

CLASSIC = Settings(engine="classic")
WINDOW = CLASSIC.window
SCHEDULE = Schedule(settle=90, lookback=86_400, give_up_after=7200, retention=86_400)
DUE = DEPLOY_AT + WINDOW + SCHEDULE.settle


class World:
    """Grafana, Prometheus and the clock, as far as the loop can see them."""

    def __init__(self):
        self.now = DEPLOY_AT + 60
        self.marks = [Mark(deploy(), ())]
        self.told = []
        self.find_error = self.read_error = self.tell_error = None
        self.registry = CollectorRegistry()
        self.found = Found()
        step = np.where(np.arange(60) < 30, 1.0, 1.5)
        quiet = 0.01 * noise(np.random.default_rng(1))
        quality = DataQuality(series=1)
        self.reading = Reading((counters(quiet * step),), quality, None, None)
        self.unchanged = Reading((counters(quiet),), quality, None, None)

    def outside(self):
        return Outside(
            find=self.find,
            read=self.read,
            around=lambda *_: self.found,
            rivals=lambda deploy, others: [o for o in others if o.id != deploy.id],
            tell=self.tell,
        )

    def find(self, start, end):
        if self.find_error:
            raise self.find_error
        return [m for m in self.marks if start <= m.deploy.at <= end]

    def read(self, _deploy, _start, _end):
        if self.read_error:
            raise self.read_error
        return self.reading

    def tell(self, report):
        if self.tell_error:
            raise self.tell_error
        self.told.append(report)

    def metric(self, name, **labels):
        return self.registry.get_sample_value(f"pgverdict_{name}", labels)

    def queries(self, outcome):
        deploy = {"deploy": "grafana-1", "service": "shop", "environment": ""}
        return self.metric("deploy_queries", outcome=outcome, **deploy)

    def errors(self, step):
        return self.metric("errors_total", step=step)


@pytest.fixture
def world():
    return World()


@pytest.fixture
def ledger():
    with Ledger(":memory:") as ledger:
        yield ledger


@pytest.fixture
def service(world, ledger):
    outside = world.outside()
    gauges = Gauges(world.registry)
    return Service(outside, ledger, gauges, CLASSIC, SCHEDULE, lambda: world.now)


def test_a_deploy_waits_until_its_window_has_passed(world, service):
    service.round()

    assert world.told == []
    assert world.metric("deploys_pending") == 1


def test_a_due_deploy_is_judged_told_and_shown(world, service):
    world.now = DUE
    service.round()

    (report,) = world.told
    assert [v.outcome for v in report.verdicts] == [Outcome.DETECTED]
    assert world.metric("deploys_pending") == 0
    assert world.metric("last_success_timestamp_seconds", step="publish") == DUE


def test_a_deploy_is_told_once_however_many_rounds_follow(world, service):
    world.now = DUE
    for _ in range(3):
        service.round()

    assert len(world.told) == 1


def test_a_deploy_dated_into_the_future_waits_for_its_time(world, service):
    world.marks = [Mark(deploy(world.now + 10), ())]
    service.round()
    assert world.metric("deploys_pending") == 0

    world.now += 60
    service.round()
    assert world.metric("deploys_pending") == 1


def test_a_partial_answer_is_never_judged(world, service):
    world.reading = replace(
        world.reading, quality=DataQuality(series=1, warnings=("store down",))
    )
    world.now = DUE
    service.round()

    assert world.told == []
    assert world.errors("judge") == 1
    assert world.metric("deploys_pending") == 1


def test_a_deploy_that_could_not_be_read_is_judged_in_the_next_round(world, service):
    world.read_error = SourceError("prometheus answered 503")
    world.now = DUE
    service.round()
    world.read_error = None
    world.now = DUE + 60

    service.round()

    assert len(world.told) == 1


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


def test_one_deploy_that_cannot_be_read_does_not_hold_up_the_next(world, service):
    world.marks = [Mark(deploy(id="a"), ()), Mark(deploy(id="b"), ())]
    read = world.read

    def read_all_but_a(one, start, end):
        if one.id == "a":
            raise SourceError("no samples")
        return read(one, start, end)

    service._outside = replace(service._outside, read=read_all_but_a)
    world.now = DUE
    service.round()

    assert [report.deploy.id for report in world.told] == ["b"]


def test_what_never_could_be_judged_is_said_at_the_end(world, service):
    world.read_error = SourceError("no samples")
    world.now = DUE
    service.round()
    world.now = DUE + SCHEDULE.give_up_after
    service.round()

    (report,) = world.told
    assert report.failure == "no samples"
    assert report.verdicts == ()


@pytest.mark.parametrize("error", [SourceError("403"), UnsureWriteError("no answer")])
def test_a_verdict_that_could_not_be_told_is_told_later(world, service, error):
    world.tell_error = error
    world.now = DUE
    service.round()
    assert world.errors("publish") == 1
    assert world.metric("deploys_pending") == 0

    world.tell_error = None
    service.round()
    assert len(world.told) == 1


def test_a_dead_grafana_does_not_hold_up_what_was_found(world, service):
    service.round()
    world.find_error = SourceError("grafana could not be reached")
    world.now = DUE
    service.round()

    assert len(world.told) == 1
    assert world.errors("discover") == 1
    assert world.metric("last_success_timestamp_seconds", step="round") == DUE
    assert world.metric("last_success_timestamp_seconds", step="discover") < DUE


def test_the_same_error_is_logged_once_and_counted_each_time(world, service):
    world.find_error = SourceError("grafana could not be reached")

    with capture_logs() as lines:
        for _ in range(3):
            service.round()

    assert [line["event"] for line in lines] == ["step failed"]
    assert world.errors("discover") == 3


def test_a_defect_in_one_step_does_not_end_the_watch(world, service):
    world.find_error = ZeroDivisionError()
    with capture_logs():
        service.round()
    world.find_error = None
    service.round()

    assert world.errors("discover") == 1
    assert world.metric("deploys_pending") == 1


def test_an_unclear_mark_is_warned_of_once(world, service):
    world.marks = [Mark(deploy(service=""), ("names no service",))]

    with capture_logs() as lines:
        service.round()
        service.round()

    assert [line["why"] for line in lines if "why" in line] == ["names no service"]


def test_a_decision_survives_the_end_of_the_process(world, service, ledger):
    """Killed between deciding and telling: the next process tells."""
    world.tell_error = UnsureWriteError("killed here")
    world.now = DUE
    service.round()

    world.tell_error = None
    world.read_error = SourceError("must not be read again")
    outside = world.outside()
    gauges = Gauges(CollectorRegistry())
    Service(outside, ledger, gauges, CLASSIC, SCHEDULE, lambda: world.now).round()

    assert len(world.told) == 1


def test_verdicts_leave_the_metrics_after_their_retention(world, service):
    world.now = DUE
    service.round()
    name, labels = "deploy_failed", {"service": "shop", "environment": ""}
    assert world.metric(name, **labels, deploy="grafana-1") == 0

    world.now = DEPLOY_AT + SCHEDULE.retention + 1
    service.round()
    assert world.metric(name, **labels, deploy="grafana-1") is None


def test_an_old_deploy_is_not_taken_up(world, service):
    world.marks = [Mark(deploy(DEPLOY_AT - 2 * SCHEDULE.lookback), ())]
    service._outside = replace(service._outside, find=lambda *_: world.marks)
    service.round()

    assert world.metric("deploys_pending") == 0


def test_samples_that_do_not_reach_the_window_are_noted(world, service):
    world.reading = replace(world.reading, first=DEPLOY_AT - 900, last=DEPLOY_AT + 600)
    world.now = DUE
    service.round()

    oldest, newest = world.told[0].notes
    assert "15 min after the window's start" in oldest
    assert "20 min before the window's end" in newest


class Looking:
    """The calibrated engine, which looks before the window has passed."""

    def __init__(self, world, ledger):
        self.world, self.ledger = world, ledger
        outside = replace(world.outside(), read=self.read)
        settings = Settings(engine="calibrated")
        gauges = Gauges(world.registry)
        self.service = Service(
            outside, ledger, gauges, settings, SCHEDULE, lambda: world.now
        )

    def read(self, deploy, start, end):
        self.world.asked = (start, end)
        return self.world.read(deploy, start, end)

    def at_minute(self, minute):
        self.world.now = DEPLOY_AT + 60 * minute + SCHEDULE.settle
        self.service.round()


@pytest.fixture
def looking(world, ledger):
    return Looking(world, ledger)


def test_a_clear_regression_is_shown_at_the_first_look(world, looking):
    looking.at_minute(9.9)
    assert world.queries("detected") is None

    looking.at_minute(10)
    assert world.queries("detected") == 1
    assert world.told == []
    assert world.metric("deploys_pending") == 1


def test_what_is_not_detected_early_is_pending_and_not_clear(world, looking):
    world.reading = world.unchanged
    looking.at_minute(10)

    assert world.queries("pending") == 1
    assert world.queries("no_regression") == 0


def test_the_verdict_is_told_once_when_the_window_has_passed(world, looking):
    for minute in (10, 15, 20, 25, 30, 35):
        looking.at_minute(minute)

    (report,) = world.told
    assert report.share == 1.0
    assert [v.outcome for v in report.verdicts] == [Outcome.DETECTED]


def test_an_early_detection_stands_when_the_rest_of_the_window_is_less_clear(
    world, looking
):
    looking.at_minute(10)
    world.reading = world.unchanged
    looking.at_minute(30)

    (report,) = world.told
    assert [v.outcome for v in report.verdicts] == [Outcome.DETECTED]
    assert "detected at an earlier look" in report.notes[-1]


def test_a_missed_look_is_not_made_up_for(world, looking):
    looking.at_minute(21)

    assert looking.ledger.reports(since=0)[0].share == pytest.approx(2 / 3)


def test_an_early_look_reads_no_further_than_it_may_see(world, looking):
    looking.at_minute(15)

    start, end = world.asked
    assert start == DEPLOY_AT - Settings().history
    assert end == DEPLOY_AT + WINDOW / 2


def test_what_was_found_early_is_not_lost_when_the_rest_cannot_be_read(world, looking):
    looking.at_minute(10)
    world.read_error = SourceError("no samples")
    world.now = DUE + SCHEDULE.give_up_after
    looking.service.round()

    (report,) = world.told
    assert [v.outcome for v in report.verdicts] == [Outcome.DETECTED]
    assert report.failure == ""


def test_another_deploy_in_the_window_is_named_as_a_cause(world, service):
    world.marks = [Mark(deploy(), ()), Mark(deploy(DEPLOY_AT + 60, id="b"), ())]
    service.round()
    world.now = DUE
    service.round()

    (report,) = [one for one in world.told if one.deploy.id == "grafana-1"]
    (verdict,) = report.detected
    assert not verdict.external_cause, "the other is farther from the change"
    assert [cause.kind for cause in verdict.causes] == ["other_deploy"]


def test_what_could_not_be_found_out_is_noted_and_costs_no_verdict(world, service):
    world.found = Found(notes=("the plans are not known",))
    world.now = DUE
    service.round()

    (report,) = world.told
    assert report.detected
    assert "the plans are not known" in report.notes
