"""Which requests the source sends to Prometheus, and what it reads from the answers."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluator.sources.api import escape_regex
from lab.faults import Fault
from tests.queries import series_of

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
from .prometheus_reading import BOTH, PROFILE, SOME, START, read


def test_the_series_are_listed_first_and_then_read_as_raw_ranges():
    found, requests = read(
        listed(*BOTH, PROFILE.since),
        answer(calls(*SOME)),
        answer(seconds(*SOME)),
        answer(since(*SOME)),
        answer(),
    )

    assert series_of(found)[0].times.tolist() == [START, START + 60]
    assert [(one.method, one.path) for one in requests] == [
        ("POST", SERIES),
        *[("POST", QUERY)] * 4,
    ]
    listing, query = requests[0], requests[1]
    assert [value for name, value in listing.form if name == "match[]"] == [
        f'{name}{{job="postgres"}}' for name in (*PROFILE.metrics, *PROFILE.identity)
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
    assert series_of(found)[0].times.tolist() == [START, START + 60]


def test_thanos_is_asked_for_complete_raw_data():
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

    assert [one.key.queryid for one in series_of(found)] == ids
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

    (batch,) = found.batches
    assert batch.columns["rows"].tolist() == [[1, 2]]
    assert batch.columns["blocks"].tolist() == [[2, 4]]
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
    (batch,) = found.batches
    np.testing.assert_array_equal(batch.columns["rows"], [[np.nan, 2]])


def test_rows_that_cannot_be_read_are_noted_once_and_lose_no_counter():
    refused = Fault(403, {"status": "error", "error": "not for you"}, path=QUERY)
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

    assert [one.times.size for one in series_of(found)] == [2, 2]
    assert series_of(found)[0].rows is None
    assert found.quality.warnings == ()
    (note,) = found.notes
    assert note.startswith("rows and blocks of the queries are not known: prometheus")
    assert "not for you" in note
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


def test_one_query_alone_can_be_read():
    _, requests = read(
        listed(*BOTH), answer(calls(*SOME)), answer(seconds(*SOME)), queryids={"1"}
    )

    assert requests[0].value("match[]").endswith('{job="postgres",queryid=~"1"}')
    for request in requests[1:3]:
        assert ',queryid=~"1"}' in request.value("query")
