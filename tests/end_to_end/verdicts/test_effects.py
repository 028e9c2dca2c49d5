"""On a real database the headline of each deploy says just what it did."""

from __future__ import annotations

import re

import pytest

from lab.timelapse import STEP

from ..recording.jobs import BEFALLS, FEW, LOOKUPS, SHORT_WINDOW
from .test_causes import UNCHANGED

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

BACKEND = "prometheus-2"
HEADLINES = {
    "quiet": ("clear", "no query found slower"),
    "shop": ("regressed", "1 query slower"),
    "lookups": ("regressed", r"1 query called ×[\d.]+ as often"),
    "rewritten": (
        "undecided",
        r"not judged: \d+ % of the execution time after the deploy, new statement "
        r"{rewritten} in place of {replaced} takes \d+ % of the execution time",
    ),
    "moved": ("clear", "the cost of 1 query moved"),
}


@pytest.mark.parametrize("job", HEADLINES)
def test_the_headline_says_what_the_deploy_did_and_no_more(recording, judge, job):
    truth = recording.truth
    kind, words = HEADLINES[job]
    ids = {"rewritten": truth.rewritten, "replaced": truth.replaced}

    decision = judge(BACKEND, job).report["decision"]

    assert decision["kind"] == kind
    for name, queryid in ids.items():
        words = words.replace(f"{{{name}}}", queryid)
    assert re.fullmatch(words, decision["text"])


def test_a_lookup_for_each_row_is_a_call_flood(recording, judge):
    effects = judge(BACKEND, "lookups").report["effects"]

    (flood,) = effects["floods"]
    assert flood["key"]["queryid"] == recording.truth.looked_up
    assert flood["factor"]["value"] == pytest.approx(LOOKUPS, rel=0.05)
    assert flood["text"].startswith("SELECT name")
    assert flood["notable"]
    assert effects["new"] == effects["vanished"] == effects["moved"] == []


def test_a_rewritten_statement_is_new_in_place_of_the_old_one(recording, judge):
    effects = judge(BACKEND, "rewritten").report["effects"]

    (new,) = effects["new"]
    assert new["key"]["queryid"] == recording.truth.rewritten
    assert new["replaced"]["key"]["queryid"] == recording.truth.replaced
    before, after = new["replaced"]["before"], new["after"]
    assert after["load"] / after["calls"] > 4 * before["load"] / before["calls"]
    assert new["pair"]["low"] > 0
    assert effects["floods"] == effects["moved"] == []


def test_a_cost_that_moved_names_both_statements(recording, judge):
    ended = judge(BACKEND, "moved")

    assert ended.code == 0
    assert ended.queries[recording.truth.grown]["verdict"] == "detected"
    (moved,) = ended.report["effects"]["moved"]
    assert moved["key"]["queryid"] == recording.truth.grown
    assert moved["vanished"]["key"]["queryid"] == recording.truth.dropped
    assert moved["change"]["value"] < 0


@pytest.mark.parametrize("job", HEADLINES)
def test_the_load_adds_up_and_its_largest_part_is_what_the_deploy_did(judge, job):
    largest = {
        "shop": "slower_calls",
        "lookups": "more_calls",
        "rewritten": "new_statements",
        "moved": "vanished_statements",
    }

    (load,) = judge(BACKEND, job).report["effects"]["loads"]

    parts = {part["kind"]: part["change"]["value"] for part in load["parts"]}
    change = load["after"]["value"] - load["before"]["value"]
    assert sum(parts.values()) == pytest.approx(change, abs=1e-9)
    if job in largest:
        assert max(parts, key=lambda kind: abs(parts[kind])) == largest[job]


@pytest.mark.parametrize("after", UNCHANGED)
def test_deploys_that_change_nothing_have_no_effect(judge, after):
    ended = judge(BACKEND, "quiet", after=after, window=SHORT_WINDOW)

    effects = ended.report["effects"]
    for kind in ("new", "vanished", "floods", "moved", "improvements", "errors"):
        assert effects[kind] == []


def test_a_reset_is_a_note_with_its_time(judge, recording):
    report = judge(BACKEND, "reset").report

    (errors,) = report["effects"]["errors"]
    assert errors["reset"] == errors["statements"] == len(FEW)
    befallen = recording.truth.at + 60 * BEFALLS
    assert errors["reset_at"] == pytest.approx(befallen, abs=2 * STEP)
    assert any(
        note.startswith("the statistics on reset were") for note in report["notes"]
    )
