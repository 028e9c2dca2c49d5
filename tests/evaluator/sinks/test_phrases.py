"""Text under text, and what a plain terminal gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.model import Drift
from evaluator.sinks.phrases import (
    aligned,
    describe_key,
    describe_subject,
    show_share,
    writable,
)
from tests.builders import DEPLOY_AT, KEY, deploy


def test_numbers_are_aligned_on_the_right_and_the_last_column_on_the_left():
    assert list(aligned([("a", "bb", "query"), ("100", "2", "x")])) == [
        "  a  bb  query",
        "100   2  x",
    ]


def test_a_query_is_named_for_a_person():
    assert describe_key(KEY) == "app@shop on db1:9719, queryid -42"


def test_text_stays_as_it_is_where_it_can_be_written():
    assert writable("×2 ≤ 3 µs", "utf-8") == "×2 ≤ 3 µs"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_plain_terminal_gets_ascii(encoding):
    assert writable("×2 ≤ 3 µs │•─", encoding) == "x2 <= 3 us |*-"


def test_what_has_no_plain_form_becomes_a_question_mark():
    assert writable("ключ", "ascii") == "????"


def test_a_subject_is_named_for_a_person():
    at = "at 2026-09-21T14:13:20Z"
    query = Drift("d", KEY.instance, DEPLOY_AT, DEPLOY_AT, KEY)
    server = Drift("d", KEY.instance, DEPLOY_AT, DEPLOY_AT)

    assert describe_subject(deploy(version="v42")) == f"deploy shop v42 {at}"
    assert describe_subject(deploy(service="")) == f"deploy grafana-1 {at}"
    assert describe_subject(query) == f"drift of {describe_key(KEY)} {at}"
    assert describe_subject(server) == f"drift of db1:9719 {at}"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1e-12, "<0.1 %"),
        (0.00099, "<0.1 %"),
        (0.001, "0.1 %"),
        (0.0123, "1.2 %"),
        (0.03, "3 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (0.25, "25 %"),
        (0.254, "25 %"),
        (0.9, "90 %"),
        (0.95, "95 %"),
        (0.9956, "99.6 %"),
        (0.999, "99.9 %"),
        (0.9996, ">99.9 %"),
        (1 - 1e-12, ">99.9 %"),
        (1.0, "100 %"),
    ],
)
def test_a_share_is_written_as_people_write_percentages(share, text):
    assert show_share(share) == text


def percentage(text):
    """The number that is written; what lies beyond a bound counts as just beyond."""
    number = float(text.removesuffix(" %").lstrip("<>"))
    return number + {"<": -0.05, ">": 0.05}.get(text[0], 0.0)


@given(share=st.floats(0, 1))
def test_any_share_is_written_within_half_of_its_last_digit(share):
    text = show_share(share)

    near_an_end = share < 0.1 or share > 0.9
    assert abs(percentage(text) - 100 * share) <= (0.1 if near_an_end else 0.5) + 1e-9
    assert (text == "0 %") == (share == 0)
    assert (text == "100 %") == (share == 1)


@given(shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_a_larger_share_is_never_written_as_a_smaller_one(shares):
    low, high = sorted(shares)

    assert percentage(show_share(low)) <= percentage(show_share(high))
