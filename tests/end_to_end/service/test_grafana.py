"""Grafana misbehaves: each fault is reported and counted, and nothing is lost."""

from __future__ import annotations

import dataclasses

import pytest

from lab.faults import Fault
from lab.grafana import Grafana

from .watching import watching

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

MINUTES = {"Retry-After": "120"}
LOGIN = "<!doctype html><title>Log in</title>"
REFUSALS = {
    "401": (
        Fault(401, {"message": "Invalid API key"}),
        "answered 401 Unauthorized: Invalid API key; the token or password is missing",
    ),
    "403": (
        Fault(403, {"message": "You'll need permissions"}),
        "answered 403 Forbidden: You'll need permissions; the token or user is known",
    ),
    "429": (
        Fault(429, {"message": "slow down"}, headers=MINUTES),
        "answered 429 Too Many Requests: slow down; it asks for fewer requests",
    ),
    "500": (
        Fault(500, {"message": "boom"}),
        "answered 500 Internal Server Error: boom",
    ),
}
FINDING = {
    **REFUSALS,
    "a login page": (Fault(200, LOGIN), "something that is not JSON: an HTML page"),
    "half a body": (
        Fault(200, "[" + " " * 99 + "]", half=True, times=3),
        "broke off in the middle of its answer (tried 3 times)",
    ),
    "something else": (Fault(200, {"rows": []}), "JSON of an unexpected shape"),
}
WRITING = {
    **REFUSALS,
    "500, but stored": (
        Fault(500, {"message": "late"}, stored=True),
        "answered 500 Internal Server Error: late",
    ),
    "lost on the way": (Fault(drop="before"), "closed the connection without"),
    "answer lost": (Fault(drop="after"), "closed the connection without an answer"),
    "a login page": (Fault(200, LOGIN), "something that is not JSON: an HTML page"),
}


@pytest.fixture(scope="module")
def watch(recording):
    with Grafana() as grafana, watching(recording, grafana) as watch:
        yield watch


@pytest.mark.parametrize("fault", FINDING)
def test_deploys_are_looked_for_again_after(watch, fault):
    answer, words = FINDING[fault]
    before, said = watch.errors("discover"), len(watch.complaints("discover"))

    watch.grafana.faults.append(answer)
    watch.wait_for(lambda: watch.errors("discover") > before, "an error is counted")
    success = watch.metrics.value("last_success_timestamp_seconds", step="discover")
    watch.wait_for_rounds()

    assert watch.errors("discover") == before + 1
    ((about, why),) = watch.complaints("discover")[said:]
    assert about == "grafana"
    assert words in why
    assert f"grafana (GET {watch.grafana.url}/api/annotations)" in why
    again = watch.metrics.value("last_success_timestamp_seconds", step="discover")
    assert again > success


def test_asked_to_wait_a_second_it_waits_and_meets_no_error(watch):
    before = watch.errors("discover")
    asked = len(watch.grafana.requests)

    answer = Fault(429, {"message": "busy"}, headers={"Retry-After": "1"})
    watch.grafana.faults.append(answer)
    watch.wait_for(lambda: len(watch.grafana.requests) > asked + 2, "it asks again")
    watch.wait_for_rounds()

    assert watch.errors("discover") == before


def test_unknown_fields_and_a_null_text_do_no_harm(recording, watch):
    row = {
        "id": 90_001,
        "time": round(recording.truth.at * 1000),
        "timeEnd": None,
        "text": None,
        "tags": ["deploy", "service:shop"],
        "newField": {"deeply": [1, None]},
    }

    watch.grafana.faults.append(Fault(200, [row], method="GET"))
    watch.wait_for(lambda: bool(watch.verdicts(90_001)), "a verdict")

    (verdict,) = watch.verdicts(90_001)
    assert "pgverdict-outcome:regressed" in verdict["tags"]


@pytest.mark.parametrize("fault", WRITING)
def test_a_verdict_is_written_exactly_once_after(recording, watch, fault):
    answer, words = WRITING[fault]
    before, said = watch.errors("publish"), len(watch.complaints("publish"))

    watch.grafana.faults.append(dataclasses.replace(answer, method="POST"))
    deploy = watch.grafana.post_deploy(at=recording.truth.at)
    watch.wait_for(lambda: bool(watch.verdicts(deploy)), "a verdict")
    watch.wait_for_rounds()

    assert len(watch.verdicts(deploy)) == 1
    assert watch.errors("publish") == before + 1
    ((about, why),) = watch.complaints("publish")[said:]
    assert about == f"grafana-{deploy}"
    assert words in why
    assert f"grafana (POST {watch.grafana.url}/api/annotations)" in why
