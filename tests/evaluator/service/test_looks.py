"""The calibrated engine looks before the window has passed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluator.errors import SourceError
from evaluator.model import DecisionKind, Outcome, Reason, Report, Settings
from evaluator.service.evaluate import examine, examine_at_every_look, keep_earlier
from tests.builders import DEPLOY_AT, deploy, effects, flood, shared_rise

from .world import DUE, SCHEDULE, WINDOW


class Looking:
    """The service at so many minutes after the deploy."""

    def __init__(self, world, ledger):
        self.world = world
        self.service = world.service(ledger, settings=Settings(engine="calibrated"))

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
    assert world.published == []
    assert world.pending() == 1


def test_what_is_not_detected_early_is_pending_and_not_clear(world, looking, ledger):
    world.reading = world.unchanged
    looking.at_minute(10)

    assert world.queries("pending") == 1
    assert world.queries("no_regression") == 0
    (report,) = ledger.reports(since=0)
    assert report.decision.kind is DecisionKind.UNDECIDED
    assert report.decision.reason is Reason.WINDOW_OPEN


def test_the_verdict_is_published_once_when_the_window_has_passed(world, looking):
    for minute in (10, 15, 20, 25, 30, 35):
        looking.at_minute(minute)

    (report,) = world.published
    assert report.share == 1.0
    assert [v.outcome for v in report.verdicts] == [Outcome.DETECTED]


def test_an_early_detection_stands_when_the_rest_of_the_window_is_less_clear(
    world, looking
):
    looking.at_minute(10)
    world.reading = world.unchanged
    looking.at_minute(30)

    (report,) = world.published
    assert [v.outcome for v in report.verdicts] == [Outcome.DETECTED]
    assert "detected at an earlier look" in report.notes[-1]


def test_a_missed_look_is_not_made_up_for(looking, ledger):
    looking.at_minute(21)

    assert ledger.reports(since=0)[0].share == pytest.approx(2 / 3)


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

    (report,) = world.published
    assert [v.outcome for v in report.verdicts] == [Outcome.DETECTED]
    assert report.failure == ""


def test_a_call_flood_of_an_earlier_look_stands():
    """Its share of the error is spent; later looks only add to it."""
    first, second = flood("first", 0.3), flood("second", 0.4)
    settings = Settings()
    earlier = Report(
        deploy(), DEPLOY_AT, settings, (), effects=effects(floods=(first,))
    )
    now = Report(deploy(), DEPLOY_AT, settings, (), effects=effects(floods=(second,)))

    kept = keep_earlier(now, earlier)

    assert kept.effects.floods == (second, first)
    assert keep_earlier(earlier, earlier) == earlier


def test_a_shared_rise_of_an_earlier_look_stands_until_another_takes_its_place():
    early, late = shared_rise(1.4), shared_rise(1.5)
    elsewhere = replace(early, server="db2")

    def report(*shared):
        return Report(
            deploy(), DEPLOY_AT, Settings(), (), effects=effects(shared=shared)
        )

    assert keep_earlier(report(), report(early)).effects.shared == (early,)
    assert keep_earlier(report(late), report(early, elsewhere)).effects.shared == (
        late,
        elsewhere,
    )
    assert keep_earlier(report(), report(early)).decision.kind == "regressed"


def test_every_look_at_once_comes_to_the_verdicts_that_the_service_published(
    world, looking
):
    """Slower for ten minutes only: the last look alone would not detect it."""
    world.reading = world.slow_at_first
    for minute in (10, 15, 20, 25, 30):
        looking.at_minute(minute)
    (published,) = world.published

    settings = Settings(engine="calibrated")
    at_once = examine_at_every_look(deploy(), world.read, settings, lambda: world.now)
    at_the_end = examine(deploy(), world.read, settings, lambda: world.now)

    assert at_once == published
    assert [v.outcome for v in at_once.verdicts] == [Outcome.DETECTED]
    assert [v.outcome for v in at_the_end.verdicts] != [Outcome.DETECTED]
