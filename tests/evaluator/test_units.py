"""Durations and moments as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.units import (
    parse_duration,
    parse_time,
    show_duration,
    show_time,
    write_duration,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30m", 1800), ("1h30m", 5400), ("90s", 90), ("500ms", 0.5), ("1.5h", 5400)],
)
def test_durations_are_read_as_prometheus_writes_them(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "30 minutes", "-5m", "0s", "nan", "99999999w"])
def test_a_bad_duration_is_answered_with_an_example(text):
    with pytest.raises(ValueError, match="expected a duration such as 30m or 90s, got"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["30", "30.5", " 90 "])
def test_a_duration_without_a_unit_is_answered_with_the_one_that_has_it(text):
    with pytest.raises(
        ValueError, match=rf"with a unit .* did you mean {text.strip()}s\?"
    ):
        parse_duration(text)


@pytest.mark.parametrize("text", ["0", "-5", "1e99", "inf"])
def test_a_number_that_no_unit_would_help_gets_no_suggestion(text):
    with pytest.raises(ValueError, match=r"with a unit such as 30m or 90s, got '.*'$"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1800, "30m"), (5400, "1h30m"), (90, "1m30s"), (0.5, "500ms"), (86_400, "1d")],
)
def test_a_duration_is_written_as_a_setting(seconds, text):
    assert write_duration(seconds) == text


@given(milliseconds=st.integers(1, 10**12))
def test_a_written_duration_reads_back(milliseconds):
    seconds = milliseconds / 1000

    assert parse_duration(write_duration(seconds)) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "2026-09-21T13:33:20Z",
        "2026-09-21T13:33:20",
        "2026-09-21T15:33:20+02:00",
        "1789997600",
    ],
)
def test_a_moment_is_the_same_however_it_is_written(text):
    assert parse_time(text) == 1789997600.0


def test_milliseconds_are_refused_and_the_right_number_offered():
    with pytest.raises(ValueError, match="did you mean 1789997600"):
        parse_time("1789997600000")


@pytest.mark.parametrize("text", ["yesterday", "", "-5", "inf"])
def test_a_bad_moment_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        parse_time(text)


@given(at=st.integers(0, 4_000_000_000))
def test_a_shown_moment_reads_back(at):
    assert parse_time(show_time(at)) == at


@pytest.mark.parametrize(
    ("at", "shown"),
    [(1.79e12, "1790000000000"), (1e18, f"{10**18}"), (1e30, f"{1e30:.0f}")]
    + [(float(text), text) for text in ("inf", "-inf", "nan")],
)
def test_a_moment_beyond_the_calendar_is_shown_as_its_number(at, shown):
    assert show_time(at) == shown


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0000025, "2.5 µs"),
        (0.0981, "98.1 ms"),
        (90, "90 s"),
        (1800, "30 min"),
        (86400, "24 h"),
        (604800, "7 d"),
    ],
)
def test_a_duration_is_shown_in_the_unit_that_reads_best(seconds, text):
    assert show_duration(seconds) == text
