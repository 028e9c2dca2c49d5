"""What is on the watch list is shown where people look, and wakes nobody."""

from __future__ import annotations

import json

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from evaluator.model import Level, Report, Settings
from evaluator.sinks.annotations import draft_of
from evaluator.sinks.gauges import Gauges
from evaluator.sinks.json import to_json
from evaluator.sinks.text import to_table
from tests.builders import DEPLOY_AT, deploy, finding


@pytest.fixture
def watched():
    """Nothing was detected, one query is on the list."""
    verdicts = (finding(Level.WATCH),)
    return Report(deploy(), DEPLOY_AT + 1900, Settings(), verdicts)


def test_it_annotates(watched):
    draft = draft_of(watched)

    headline, listed, *_ = draft.text.splitlines()
    assert headline == (
        "pgverdict: no query found slower after deploy shop; 1 on the watch list"
    )
    assert listed.startswith("watch: query -42 (app@shop on db1:9719): ×1.50, ")
    assert "pgverdict-outcome:clear" in draft.tags


def test_no_series_that_an_alert_could_be_made_of_shows_it(watched):
    registry = CollectorRegistry()

    Gauges(registry).show([watched], pending=0)

    page = generate_latest(registry).decode()
    assert "-42" not in page
    assert "pgverdict_query_regressed{" not in page


def test_it_is_listed_in_the_table_and_is_not_a_detection(watched):
    table = to_table(watched)

    assert "queryid -42: on the watch list" in table
    assert watched.detected == ()
    assert "detected" not in table


def test_its_level_stands_in_the_json(watched):
    (query,) = json.loads(to_json(watched))["queries"]

    assert (query["level"], query["verdict"]) == ("watch", "no_regression")


def test_a_detected_query_is_not_on_the_list():
    found = Report(deploy(), DEPLOY_AT, Settings(), (finding(Level.ALERT),))

    assert found.watched == ()
    assert "watch" not in draft_of(found).text
