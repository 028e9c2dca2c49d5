"""A jump at the deploy against all of the history."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.noise.shared.jump import line_end, measure_jump
from evaluator.model import Panel

BEFORE, AFTER, WINDOW, HEAD = 240, 30, 30, 6


def panel(after=AFTER):
    t = BEFORE + after
    starts = 60.0 * np.arange(t, dtype=np.float64)
    means = np.ones((1, t))
    return Panel(starts, starts + 60.0, means, means, BEFORE, BEFORE, WINDOW)


def jump_of(path):
    return measure_jump(path, panel(path.size - BEFORE), head=HEAD)


def wave(seed: int = 1, after: int = AFTER):
    rng = np.random.default_rng(seed)
    return 0.02 * rng.standard_normal(BEFORE + after)


def minutes(path):
    return np.arange(path.size) + 0.5 - BEFORE


def test_the_end_of_a_line_is_that_of_its_regression():
    values = np.random.default_rng(2).standard_normal(12)

    slope, level = np.polyfit(np.arange(12), values, 1)

    assert values @ line_end(12) == pytest.approx(level + slope * 11.5)


def test_a_step_is_abrupt_and_has_its_size():
    path = wave()
    path[BEFORE:] += 0.4

    jump = jump_of(path)

    assert jump.abrupt
    assert jump.size == pytest.approx(0.4, abs=0.06)
    assert jump.low < 0.4 < jump.high


def test_largest_before_is_that_of_every_moment_of_the_history():
    path = wave()
    jump = jump_of(path)

    slow = []
    for here in range(12, BEFORE - 11):
        x = np.arange(12) + 0.5
        left = np.polyval(np.polyfit(x - 12, path[here - 12 : here], 1), 0.0)
        right = np.polyval(np.polyfit(x, path[here : here + 12], 1), 0.0)
        slow.append(right - left)

    assert jump.moments == len(slow)
    assert jump.largest_before == pytest.approx(np.abs(slow).max())


@pytest.mark.parametrize("begins", [-60, -30, -10])
@pytest.mark.parametrize("minutes_long", [60, 200])
def test_a_slope_is_not_a_jump(begins, minutes_long):
    path = wave()
    path += np.clip((minutes(path) - begins) / minutes_long, 0.0, 1.0)

    assert not jump_of(path).abrupt


def test_what_passes_within_the_tolerance_is_none():
    path = wave()
    path[BEFORE:] += np.exp(-minutes(path)[BEFORE:] / 2.0)

    assert not jump_of(path).abrupt


def test_a_jump_like_earlier_ones_is_none():
    path = wave()
    path[100:] += 0.4
    path[BEFORE:] += 0.4

    assert not jump_of(path).abrupt


@pytest.mark.parametrize(("after", "abrupt"), [(10, False), (30, True)])
def test_an_early_look_asks_for_more(after, abrupt):
    path = wave(after=after)
    path[BEFORE:] += 0.115

    assert jump_of(path).abrupt is abrupt
