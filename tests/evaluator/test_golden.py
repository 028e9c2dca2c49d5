"""The classic engine against an independent implementation's numbers, key by key.

``tests/golden`` holds an answer of Prometheus with 40 queries around one deploy, and
what a slow, separate implementation of the specification finds in it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.cli import main

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text("utf-8"))

REPLAY = (
    *("replay", str(GOLDEN / "capture.json"), "--deploy-time", "1790000000"),
    *("--window", "30m", "--engine", "classic", "--format", "json"),
)


@pytest.fixture
def replayed(capsys):
    code = main(REPLAY)
    document = json.loads(capsys.readouterr().out)
    assert code == 1
    return document


@pytest.mark.parametrize(
    "expected", EXPECTED["queries"], ids=lambda query: query["queryid"]
)
def test_each_query_agrees_in_every_field(expected, replayed):
    (found,) = [q for q in replayed["queries"] if q["queryid"] == expected["queryid"]]

    for field, value in expected.items():
        if field == "note":
            continue
        assert found[field] == (
            pytest.approx(value, rel=1e-9, abs=1e-100)
            if isinstance(value, float)
            else value
        ), field


def test_no_field_is_reported_that_its_step_did_not_reach(replayed):
    known = {field for query in EXPECTED["queries"] for field in query}
    by_id = {query["queryid"]: query for query in EXPECTED["queries"]}

    for query in replayed["queries"]:
        extra = (known & query.keys()) - by_id[query["queryid"]].keys()
        assert extra == set()


def test_the_settings_are_the_specified_ones(replayed):
    assert replayed["deploy_time"] == EXPECTED["deploy_time"]
    assert replayed["window_seconds"] == EXPECTED["window_seconds"]
    assert EXPECTED["settings"].items() <= replayed["settings"].items()
    assert len(replayed["queries"]) == len(EXPECTED["queries"])
