"""The small plot: what is where, at any width."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.sinks.plot import plot
from tests.builders import DEPLOY_AT, counters
from tests.queries import interval_means

POINT = "•"


def drawn(means, *, width=80, levels=(None, None), change=None):
    series = counters(means)
    start, end = DEPLOY_AT - 1800, DEPLOY_AT + 1800
    (intervals,) = interval_means([series], start, end, max_gap=300)
    return plot(
        intervals,
        at=DEPLOY_AT,
        window=1800.0,
        levels=levels,
        change=change,
        width=width,
    )


def rows_of(lines, mark=POINT):
    return [number for number, line in enumerate(lines) if mark in line]


STEP = np.where(np.arange(60) < 30, 0.01, 0.02)


def test_twice_as_slow_is_twice_as_high():
    lines = drawn(STEP)

    assert rows_of(lines) == [0, 5]
    assert lines[0].startswith("    20 ms │")
    assert lines[5].startswith("    10 ms │")
    assert lines[10].startswith("        0 └───")


def test_the_deploy_is_a_line_with_the_fast_on_its_left():
    lines = drawn(STEP)
    column = lines[11].index("deploy") + 3

    assert all(line[column] in "│•" for line in lines[:10])
    assert lines[5].rindex(POINT) < column <= lines[0].index(POINT)


def test_the_change_is_marked_where_it_is():
    lines = drawn(STEP, change=DEPLOY_AT)

    assert lines[-1].index("^") == lines[0].index("│", 11)
    assert lines[-1].endswith("^ change")


def test_a_change_at_the_end_is_named_on_its_left():
    (*_, foot) = drawn(STEP, change=DEPLOY_AT + 1800)

    assert foot.endswith("change ^")


def test_the_means_of_both_sides_are_lines():
    lines = drawn(STEP, levels=(0.015, 0.005))

    before, after = rows_of(lines, "─")[:2]
    assert lines[before].count("─") > 20
    assert lines[before].rindex("─") < lines[after].index("─")


@pytest.mark.parametrize("width", [1, 40, 79, 80, 120, 500])
def test_no_line_is_wider_than_the_terminal(width):
    lines = drawn(STEP, width=width, change=DEPLOY_AT)

    assert max(map(len, lines)) <= min(max(width, 40), 120)


def test_one_spike_does_not_flatten_the_rest():
    means = np.full(60, 0.01)
    means[10] = 10.0

    lines = drawn(means, levels=(0.01, 0.01))

    assert lines[0].startswith("    40 ms │")
    assert "▲" in lines[0]
    assert lines[7].count(POINT) > 40


def test_a_time_without_calls_stays_empty():
    calls = np.full(60, 40.0)
    calls[:20] = 0.0
    series = counters(np.full(60, 0.01), calls)
    (intervals,) = interval_means(
        [series], DEPLOY_AT - 1800, DEPLOY_AT + 1800, max_gap=300
    )

    lines = plot(
        intervals,
        at=DEPLOY_AT,
        window=1800.0,
        levels=(None, None),
        change=None,
        width=80,
    )

    assert lines[0][11:33].strip() == ""
    assert POINT in lines[0][33:36]


@pytest.mark.parametrize("means", [np.zeros(60), np.zeros(0)])
def test_nothing_to_draw_is_reported(means):
    assert drawn(means) == ["(no usable interval to draw)"]
