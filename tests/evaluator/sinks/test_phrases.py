"""Text under text, and what a plain terminal gets."""

from __future__ import annotations

import pytest

from evaluator.sinks.phrases import aligned, describe_key, writable
from tests.builders import KEY


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
