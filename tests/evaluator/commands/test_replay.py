"""``replay --looks``: what a running evaluator would have concluded."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from evaluator.model import Settings
from evaluator.service.ledger import Ledger
from evaluator.sinks.json import to_json
from evaluator.sources.captures import Capture
from tests.builders import DEPLOY_AT, counters, noise
from tests.evaluator.history import PROFILE, capture_of
from tests.evaluator.service.world import SCHEDULE, World

from .running import run


@pytest.fixture
def capture(tmp_path):
    """One query that is slower for the first eleven minutes after the deploy."""
    minutes = np.arange(60)
    short = np.where((minutes >= 30) & (minutes < 41), 1.5, 1.0)
    series = counters(0.01 * noise(np.random.default_rng(1)) * short)
    path = tmp_path / "capture.json"
    path.write_text(capture_of([series], {series.key.queryid: "f1"}))
    return path


@pytest.fixture
def replayed(capture, capsys):
    def replay(*arguments):
        run(
            *("replay", str(capture), f"--deploy-time={DEPLOY_AT}"),
            *("--format=json", *arguments),
        )
        return json.loads(capsys.readouterr().out)["queries"]

    return replay


def published_by_run(capture):
    """What the service publishes that reads the same samples look by look."""
    world = World()
    held = Capture(str(capture), PROFILE)
    outside = replace(
        world.outside(), read=lambda _deploy, start, end: held.read(start, end)
    )
    with Ledger(":memory:") as ledger:
        service = world.service(
            ledger, outside=outside, settings=Settings(engine="calibrated")
        )
        for minute in (10, 15, 20, 25, 30):
            world.now = DEPLOY_AT + 60 * minute + SCHEDULE.settle
            service.round()
    (report,) = world.published
    return json.loads(to_json(report))["queries"]


def test_with_looks_its_verdicts_are_those_of_the_service(capture, replayed):
    queries = replayed("--looks")

    assert queries == published_by_run(capture)
    assert [query["verdict"] for query in queries] == ["detected"]


def test_without_looks_it_judges_once_at_the_end(replayed):
    (query,) = replayed()

    assert query["verdict"] != "detected"


def test_the_classic_engine_has_one_look_only(replayed):
    assert replayed("--engine=classic", "--looks") == replayed("--engine=classic")
