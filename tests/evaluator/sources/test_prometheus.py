"""What the source asks Prometheus for, and what it makes of answers that go wrong."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import IncompleteDataError, SourceError
from evaluator.sources.api import escape_regex
from evaluator.sources.profiles import PROFILES
from evaluator.sources.prometheus import PrometheusSource
from evaluator.transport.client import Client
from lab.faults import Fault, FaultServer

from ..prometheus_answers import (
    QUERY,
    SERIES,
    answer,
    blocks,
    calls,
    listed,
    rows,
    seconds,
    since,
)

PROFILE = PROFILES["pgverdict"]
START, END = 1790000000.123, 1790003600.123
BOTH = (PROFILE.calls, PROFILE.seconds)
SOME = [(START, "1"), (START + 60, "2")]


def no_sleep(seconds):
    pass


def read(*faults, selector='job="postgres"', chunk=200, **more):
    """What the source makes of these answers, and what it asked for."""
    with FaultServer(*faults) as server:
        client = Client("prometheus", server.url, timeout=(1, 0.3), sleep=no_sleep)
        with client:
            source = PrometheusSource(client, PROFILE, selector, chunk)
            return source.read(START, END, **more), server.requests


def error(*faults) -> str:
    with pytest.raises(SourceError) as caught:
        read(*faults)
    assert "127.0.0.1" in str(caught.value)
    return str(caught.value)


def test_the_series_are_listed_first_and_then_read_as_raw_ranges():
    found, requests = read(
        listed(*BOTH, PROFILE.since),
        answer(calls(*SOME)),
        answer(seconds(*SOME)),
        answer(since(*SOME)),
        answer(),
    )

    assert found.series[0].times.tolist() == [START, START + 60]
    assert [(one.method, one.path) for one in requests] == [
        ("POST", SERIES),
        *[("POST", QUERY)] * 4,
    ]
    listing, query = requests[0], requests[1]
    assert [value for name, value in listing.form if name == "match[]"] == [
        f'{name}{{job="postgres"}}' for name in PROFILE.metrics
    ]
    assert query.value("query") == (
        'pg_stat_statements_calls_total{job="postgres",queryid=~"1"}[3602000ms]'
    )


def test_a_little_more_is_asked_for_than_is_used():
    found, requests = read(
        listed(*BOTH),
        answer(calls((START - 0.5, "0"), *SOME)),
        answer(seconds((START - 0.5, "0"), *SOME)),
    )

    # 3,600 s and a second more at each end, evaluated a second after the end.
    assert requests[1].value("time") == "1790003601.123"
    assert requests[1].value("query").endswith("[3602000ms]")
    assert found.series[0].times.tolist() == [START, START + 60]


def test_thanos_is_told_to_leave_nothing_out():
    _, requests = read(listed(*BOTH), answer(calls(*SOME)), answer(seconds(*SOME)))

    for request in requests:
        assert request.value("partial_response") == "false"
        assert request.value("max_source_resolution") == "0s"


def test_a_metric_that_nobody_wrote_is_not_asked_for():
    _, requests = read(listed(*BOTH), answer(calls(*SOME)), answer(seconds(*SOME)))

    assert not any("stats_since" in one.value("query") for one in requests[1:])


def test_queries_are_read_in_chunks_and_each_once():
    ids = [str(number) for number in range(5)]
    names = [(name, one) for one in ids for name in BOTH]
    chunks = [["0", "1"], ["2", "3"], ["4"]]
    answers = [
        answer(*(kind(*SOME, queryid=one) for one in chunk))
        for chunk in chunks
        for kind in (calls, seconds, rows)
    ]

    found, requests = read(listed(*names), *answers, chunk=2)

    assert [one.key.queryid for one in found.series] == ids
    patterns = [
        re.search('queryid=~"(.*?)"', one.value("query")) for one in requests[1:]
    ]
    assert [match[1] for match in patterns if match] == [
        pattern for chunk in chunks for pattern in ["|".join(chunk)] * 3
    ]


def test_rows_and_blocks_come_in_one_answer_beside_the_counters():
    found, requests = read(
        listed(*BOTH),
        answer(calls(*SOME)),
        answer(seconds(*SOME)),
        answer(rows(*SOME), *blocks(hit=SOME, read=SOME)),
    )

    assert found.series[0].rows.tolist() == [1, 2]
    assert found.series[0].blocks.tolist() == [2, 4]
    assert found.notes == ()
    assert requests[3].value("query") == (
        '{job="postgres",__name__=~"pg_stat_statements_rows_total'
        "|pg_stat_statements_shared_blocks_hit_total"
        '|pg_stat_statements_shared_blocks_read_total",queryid=~"1"}[3602000ms]'
    )


def test_rows_and_blocks_of_the_history_are_not_asked_for():
    found, requests = read(
        listed(*BOTH),
        answer(calls(*SOME)),
        answer(seconds(*SOME)),
        answer(rows(SOME[1])),
        detail_from=START + 1800,
    )

    assert requests[3].value("query").endswith("[1802000ms]")
    assert np.isnan(found.series[0].rows[0])
    assert found.series[0].rows[1] == 2


def test_rows_that_cannot_be_had_are_noted_once_and_lose_no_counter():
    refused = Fault(422, {"status": "error", "error": "too many samples"}, path=QUERY)
    ids = ("1", "2")

    found, requests = read(
        listed(*((name, one) for one in ids for name in BOTH)),
        answer(calls(*SOME)),
        answer(seconds(*SOME)),
        refused,
        answer(calls(*SOME, queryid="2")),
        answer(seconds(*SOME, queryid="2")),
        chunk=1,
    )

    assert [one.times.size for one in found.series] == [2, 2]
    assert found.series[0].rows is None
    assert found.quality.warnings == ()
    (note,) = found.notes
    assert note.startswith("rows and blocks of the queries are not known: prometheus")
    assert "too many samples" in note
    assert len(requests) == 6


def test_a_warning_about_rows_is_a_note_and_makes_nothing_partial():
    found, _ = read(
        listed(*BOTH),
        answer(calls(*SOME)),
        answer(seconds(*SOME)),
        answer(rows(*SOME), warnings=["store down"]),
    )

    assert found.quality.warnings == ()
    assert found.notes == ("rows and blocks of the queries: store down",)


def test_no_selector_and_one_in_braces_are_understood():
    for selector, expected in [
        ("", 'total{queryid=~"1"}'),
        (' {job=~"a.{2}"}, ', 'total{job=~"a.{2}",queryid=~"1"}'),
    ]:
        _, requests = read(
            listed(*BOTH),
            answer(calls(*SOME)),
            answer(seconds(*SOME)),
            selector=selector,
        )

        assert expected in requests[1].value("query")


def test_strange_query_ids_are_escaped_for_the_pattern_and_for_the_string():
    strange = 'a.b|"c"\\'

    _, requests = read(
        listed(*((name, strange) for name in BOTH)),
        answer(calls(*SOME, queryid=strange)),
        answer(seconds(*SOME, queryid=strange)),
    )

    assert r'queryid=~"a\\.b\\|\"c\"\\\\"}' in requests[1].value("query")


@given(st.text())
def test_an_escaped_text_matches_itself_and_nothing_longer(text):
    # Python's own syntax agrees with RE2's for these escapes.
    pattern = re.compile(escape_regex(text))

    assert pattern.fullmatch(text)
    assert not pattern.fullmatch(text + "x")


def test_any_warning_is_in_the_reading_whichever_answer_it_came_with():
    found, _ = read(
        listed(*BOTH, warnings=["listing cut"]),
        answer(calls(*SOME), warnings=["store down"]),
        answer(seconds(*SOME), warnings=["store down"], infos=["harmless"]),
    )

    assert found.quality.warnings == ("listing cut", "store down")


def test_a_query_that_lost_one_counter_on_the_way_is_still_there():
    found, _ = read(listed(*BOTH), answer(calls(*SOME)), answer(warnings=["cut"]))

    assert found.series[0].times.size == 0
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
    ("fault", "said"),
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
            "answered something that is no JSON: an HTML page, “Sign in”",
        ),
        (
            Fault(200, {"status": "success", "data": {}}, half=True, times=0),
            "broke off in the middle of its answer (tried 3 times)",
        ),
        (Fault(delay=1.0), "said nothing for 0.3 s"),
        (Fault(drop="before", times=0), "closed the connection without an answer"),
        (Fault(302, headers={"Location": "/login"}), "sends us to /login"),
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
def test_an_answer_that_goes_wrong_ends_in_a_clear_message(fault, said, path):
    wrong = Fault(**{**fields(fault), "path": path})

    assert said in error(wrong, listed(*BOTH))


def fields(fault):
    return {name: getattr(fault, name) for name in fault.__slots__}


def test_a_server_without_raw_samples_is_told_so():
    vector = Fault(
        body={"status": "success", "data": {"resultType": "vector", "result": []}},
        path=QUERY,
    )

    assert "answered a vector instead of a matrix" in error(listed(*BOTH), vector)


def test_an_end_before_the_start_is_a_mistake_of_the_caller():
    client = Client("prometheus", "http://127.0.0.1:1")

    with pytest.raises(ValueError, match="not after the start"):
        PrometheusSource(client, PROFILE).read(END, START)


def check(*faults, now):
    with FaultServer(*faults) as server, Client("prometheus", server.url) as client:
        return PrometheusSource(client, PROFILE).check(now)


def test_a_check_tells_how_many_queries_are_scraped_and_how_often():
    ids = ("1", "2")
    samples = [(START + 15.0 * step, str(step)) for step in range(20)]

    found = check(
        listed(*((name, one) for one in ids for name in BOTH)),
        answer(*(calls(*samples, queryid=one) for one in ids)),
        answer(*(seconds(*samples, queryid=one) for one in ids), warnings=["hm"]),
        now=samples[-1][0] + 4,
    )

    assert found.queries == 2
    assert found.scrape_interval == pytest.approx(15)
    assert found.newest_age == pytest.approx(4)
    assert found.warnings == ("hm",)
    assert found.problems == ()


def test_a_check_says_that_scraping_has_stopped():
    found = check(
        listed(*BOTH), answer(calls(*SOME)), answer(seconds(*SOME)), now=START + 600
    )

    assert (
        "the newest sample is 540 s old at a scrape interval of 60 s"
        in found.problems[0]
    )


def test_a_check_says_that_nothing_is_scraped():
    found = check(listed(), now=END)

    assert found.queries == 0
    assert found.newest_age is None
    assert (
        "fewer than two scrapes of pg_stat_statements_calls_total in"
        in found.problems[0]
    )
