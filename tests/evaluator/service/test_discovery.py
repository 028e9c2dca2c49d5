"""How deploys come into the ledger: by triggers, and by the inbox."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from evaluator.errors import SourceError
from evaluator.service.ledger import Ledger
from evaluator.triggers.inbox import InboxRefusedError
from evaluator.triggers.port import Mark
from tests.builders import DEPLOY_AT, deploy

from .world import SCHEDULE, ListedMarks


def test_every_trigger_is_asked(world, ledger):
    second = ListedMarks(Mark(deploy(id="b")), name="second")
    outside = replace(world.outside(), triggers=[world.trigger, second])

    world.service(ledger, outside=outside).round()

    assert world.pending() == 2


def test_a_trigger_that_fails_costs_the_others_nothing(world, ledger):
    second = ListedMarks(Mark(deploy(id="b")), name="second")
    outside = replace(world.outside(), triggers=[world.trigger, second])
    world.trigger.error = SourceError("grafana could not be reached")

    with capture_logs() as lines:
        world.service(ledger, outside=outside).round()

    assert world.pending() == 1
    assert world.last_success("discover") == 0
    (failed,) = [line for line in lines if line["event"] == "step failed"]
    assert (failed["step"], failed["about"]) == ("discover", "listed")


def test_without_any_trigger_what_is_handed_in_is_taken_up(world, ledger):
    service = world.service(ledger, outside=replace(world.outside(), triggers=[]))
    world.inbox.put(Mark(deploy()))

    service.round()

    assert world.pending() == 1
    assert world.inbox.waiting == ()


def test_a_deploy_dated_into_the_future_waits_for_its_time(world, service):
    world.trigger.announced = [Mark(deploy(world.now + 10))]
    service.round()
    assert world.pending() == 0

    world.now += 60
    service.round()
    assert world.pending() == 1


def test_an_unclear_mark_is_warned_of_once(world, service):
    world.trigger.announced = [Mark(deploy(service=""), ("names no service",))]

    with capture_logs() as lines:
        service.round()
        service.round()

    assert [line["why"] for line in lines if "why" in line] == ["names no service"]


def test_a_deploy_that_is_too_old_is_not_taken_up(world, service):
    old = Mark(deploy(DEPLOY_AT - 2 * SCHEDULE.lookback, id="old"))
    world.trigger.announced = [old]
    world.trigger.marks = lambda *_: [old]
    service.round()

    assert world.pending() == 0


def test_a_deploy_that_is_handed_in_too_late_is_warned_of(world, service):
    world.inbox.put(Mark(deploy(DEPLOY_AT - 2 * SCHEDULE.lookback, id="old")))

    with capture_logs() as lines:
        service.round()

    assert [line["deploy"] for line in lines if line["event"] == "deploy too old"] == [
        "old"
    ]
    assert world.pending() == 1


def test_many_threads_hand_in_while_the_rounds_go_on(world, service):
    world.trigger.announced = []
    done = threading.Event()

    def hand_in(thread):
        for number in range(50):
            world.inbox.put(Mark(deploy(id=f"{thread}-{number}")))

    with ThreadPoolExecutor(8) as threads:
        handed_in = [threads.submit(hand_in, thread) for thread in range(8)]
        while not done.is_set():
            service.round()
            if all(one.done() for one in handed_in):
                done.set()
    for one in handed_in:
        one.result()
    service.round()

    assert world.pending() == 400


def test_a_ledger_that_cannot_be_written_loses_nothing(world, service, ledger):
    world.trigger.announced = []
    for name in "abc":
        world.inbox.put(Mark(deploy(id=name)))
    ledger._db.execute("pragma query_only = 1")
    with capture_logs(), pytest.raises(sqlite3.OperationalError):
        service.round()
    assert world.errors("discover") == 1
    assert ledger.waiting() == 0

    ledger._db.execute("pragma query_only = 0")
    service.round()

    assert world.pending() == 3


def test_what_was_handed_in_before_the_stop_is_in_the_ledger_after_it(world, tmp_path):
    path = str(tmp_path / "state.sqlite")
    with Ledger(path) as ledger:
        service = world.service(ledger)
        world.inbox.put(Mark(deploy()))
        service.stop()

    with Ledger(path) as ledger:
        assert ledger.waiting() == 1


def test_after_the_stop_a_deploy_is_refused_and_not_swallowed(world, service):
    service.stop()

    with pytest.raises(InboxRefusedError, match="stopping"):
        world.inbox.put(Mark(deploy()))


def test_deploys_that_the_stop_could_not_save_are_named(world, service, ledger):
    world.inbox.put(Mark(deploy(id="a")))
    world.inbox.put(Mark(deploy(id="b")))
    ledger._db.execute("pragma query_only = 1")

    with capture_logs() as lines:
        service.stop()

    (lost,) = [line for line in lines if "lost" in line["event"]]
    assert lost["deploys"] == "a, b"


def test_only_the_thread_that_opened_it_may_use_the_ledger(ledger):
    with ThreadPoolExecutor(1) as threads:
        error = threads.submit(ledger.note, deploy(), DEPLOY_AT).exception()

    assert isinstance(error, sqlite3.ProgrammingError)
