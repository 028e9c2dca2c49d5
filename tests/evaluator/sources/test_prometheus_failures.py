"""Answers of Prometheus that are partial, empty or wrong."""

from __future__ import annotations

import pytest

from evaluator.errors import IncompleteDataError
from evaluator.sources.prometheus import PrometheusSource
from evaluator.transport.client import Client
from lab.faults import Fault
from tests.queries import series_of

from ..prometheus_answers import QUERY, SERIES, answer, calls, listed, seconds
from .prometheus_reading import BOTH, END, PROFILE, SOME, START, error, read


def test_any_warning_is_in_the_reading_whichever_answer_it_came_with():
    found, _ = read(
        listed(*BOTH, warnings=["listing cut"]),
        answer(calls(*SOME), warnings=["store down"]),
        answer(seconds(*SOME), warnings=["store down"], infos=["harmless"]),
    )

    assert found.quality.warnings == ("listing cut", "store down")


def test_a_query_that_lost_one_counter_on_the_way_is_still_there():
    found, _ = read(listed(*BOTH), answer(calls(*SOME)), answer(warnings=["cut"]))

    assert series_of(found)[0].times.size == 0
    assert found.quality.lone_samples == 2


def test_no_series_at_all_is_an_error_that_shows_what_was_looked_for():
    message = error(listed())

    assert 'no sample of pg_stat_statements_calls_total{job="postgres"} or ' in message
    assert "between 2026-09-21T14:13:20Z and 2026-09-21T15:13:20Z" in message


def test_series_without_samples_in_the_window_are_the_same_error():
    too_old = [(START - 100, "1")]

    assert "no sample of" in error(
        listed(*BOTH), answer(calls(*too_old)), answer(seconds(*too_old))
    )


def test_an_empty_answer_with_a_warning_is_partial_and_not_empty():
    with pytest.raises(IncompleteDataError, match="partial: a store is down"):
        read(
            listed(*BOTH),
            answer(warnings=["a store is down"]),
            answer(),
        )


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            Fault(400, {"status": "error", "errorType": "bad_data", "error": "parse"}),
            "answered 400 Bad Request: bad_data: parse",
        ),
        (
            Fault(
                422, {"status": "error", "errorType": "execution", "error": "too many"}
            ),
            "answered 422 Unprocessable Entity: execution: too many",
        ),
        (
            Fault(
                503,
                {"status": "error", "errorType": "timeout", "error": "slow"},
                times=0,
            ),
            "answered 503 Service Unavailable: timeout: slow (tried 3 times)",
        ),
        (
            Fault(200, "<!doctype html><title>Sign in</title>"),
            "answered something that is not JSON: an HTML page, “Sign in”",
        ),
        (
            Fault(200, {"status": "success", "data": {}}, half=True, times=0),
            "broke off in the middle of its answer (tried 3 times)",
        ),
        (Fault(delay=1.0), "sent nothing for 0.3 s"),
        (Fault(drop="before", times=0), "closed the connection without an answer"),
        (Fault(302, headers={"Location": "/login"}), "redirects to /login"),
        (
            Fault(200, {"status": "error", "errorType": "internal", "error": "oops"}),
            "answered an error",
        ),
        (
            Fault(200, {"status": "success", "data": "x"}),
            "of an unexpected shape",
        ),
    ],
    ids=lambda value: getattr(value, "status", None) and f"{value.status}",
)
@pytest.mark.parametrize("path", [SERIES, QUERY], ids=["listing", "reading"])
def test_an_answer_that_goes_wrong_ends_in_a_clear_message(fault, message, path):
    wrong = Fault(**{**fields(fault), "path": path})

    assert message in error(wrong, listed(*BOTH))


def fields(fault):
    return {name: getattr(fault, name) for name in fault.__slots__}


def test_a_server_without_raw_samples_is_reported():
    vector = Fault(
        body={"status": "success", "data": {"resultType": "vector", "result": []}},
        path=QUERY,
    )

    assert "answered a vector instead of a matrix" in error(listed(*BOTH), vector)


def test_an_end_before_the_start_is_a_mistake_of_the_caller():
    client = Client("prometheus", "http://127.0.0.1:1")

    with pytest.raises(ValueError, match="not after the start"):
        PrometheusSource(client, PROFILE).read(END, START)
