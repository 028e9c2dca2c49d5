"""A rise that began before the deploy is not the deploy's; a step on top of it is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bench.trials import Trial, calibrated
from evaluator.engine.noise.model import assess
from evaluator.engine.noise.slope import find_slopes
from evaluator.model import Panel

WINDOW, AFTER = 30, 30
DEPLOYS = 12


def minutes(before: int):
    return np.arange(before + AFTER) + 0.5 - before


# Factor of the mean by the minute after the deploy.
SLOPES = {
    "for an hour": lambda x: 1 + np.clip((x + 60) / 60, 0, None),
    "for two hours": lambda x: 1 + np.clip((x + 120) / 120, 0, None),
    "for longer than the history": lambda x: 3 + x / 120,
    "in the last half hour": lambda x: np.exp(np.clip((x + 30) / 30, 0, None)),
    "exponentially": lambda x: np.exp(np.clip((x + 60) / 60, 0, None)),
    "for an hour, then flat": lambda x: 1 + np.clip((x + 60) / 60, 0, 1),
    "falling, then flat": lambda x: 1 + np.clip(-(x + 10) / 60, 0, 1),
    "a saw-tooth": lambda x: 1 + 0.5 * ((x + 25) % 60) / 60,
}
# What a deploy does, alone and on top of a slope.
STEPS = {
    "a step": lambda x: 1 + 0.5 * (x > 0),
    "a step after four minutes": lambda x: 1 + 0.5 * (x > 4),
    "growing for eight minutes": lambda x: 1 + 0.5 * np.clip(x / 8, 0, 1),
    "a step on a slope": lambda x: (
        (1 + np.clip((x + 60) / 90, 0, None)) * (1 + 0.5 * (x > 0))
    ),
}


def blamed(shape, *, before: int, cv: float) -> int:
    """Of the deploys of eleven queries, in how many the first is found at p ≤ .005."""
    found = 0
    for seed in range(DEPLOYS):
        rng = np.random.default_rng([9, seed])
        means = 0.005 * np.exp(cv * rng.standard_normal((11, before + AFTER)))
        means[0] *= shape(minutes(before))
        trial = Trial(means, np.full(means.shape, 100.0), before, WINDOW)
        found += int(calibrated(trial).p_value[0] <= 0.005)
    return found


@pytest.mark.parametrize("before", [240, 60], ids=["long history", "an hour"])
@pytest.mark.parametrize("name", SLOPES)
def test_a_slope_without_a_break_is_not_blamed_on_the_deploy(name, before):
    assert blamed(SLOPES[name], before=before, cv=0.1) <= 1


def test_scrapes_every_15_seconds_show_no_break_in_it_either():
    """Four times as many intervals show the bend of a mean that grows evenly."""
    found = 0
    for seed in range(DEPLOYS):
        rng = np.random.default_rng([10, seed])
        means = 0.005 * np.exp(0.1 * rng.standard_normal((11, 1200)))
        means[0] *= SLOPES["for an hour"]((np.arange(1200) - 1079.5) / 4.0)
        starts = 15.0 * np.arange(1200.0)
        panel = Panel(
            starts, starts + 15.0, means, np.full(means.shape, 50.0), 1080, 1080, 120
        )
        judged = assess(panel, at=16_200.0, window=1800.0, tolerance=360.0)
        found += int(judged.p_value[0] <= 0.005)

    assert found <= 1


@pytest.mark.parametrize("before", [240, 60, 30], ids=["long", "an hour", "window"])
@pytest.mark.parametrize("name", STEPS)
def test_what_begins_at_the_deploy_is_found(name, before):
    assert blamed(STEPS[name], before=before, cv=0.1) >= DEPLOYS - 2


def test_a_blamed_slope_names_the_place_where_it_began():
    rng = np.random.default_rng(3)
    means = 0.005 * np.exp(0.05 * rng.standard_normal((11, 270)))
    means[0] *= SLOPES["for an hour"](minutes(240))
    found = calibrated(Trial(means, np.full(means.shape, 100.0), 240, WINDOW))

    assert found.slope[0]
    assert not found.near[0]
    assert (240 * 60.0 - found.split_at[0]) / 60.0 == pytest.approx(60.0, abs=16.0)


def slow_gain(y, w, shape):
    """What one shape explains, by the definition: residual squares without and with."""

    def squares(*columns):
        design = np.stack([np.ones_like(y), *columns], axis=1) * np.sqrt(w)[:, None]
        left = np.sqrt(w) * y
        heights = np.linalg.lstsq(design, left, rcond=None)[0]
        return float(np.sum((left - design @ heights) ** 2)), heights

    without, _ = squares()
    with_it, heights = squares(shape)
    return without - with_it if heights[1] > 0 else 0.0


def test_the_winner_is_that_of_least_squares_shape_by_shape():
    rng = np.random.default_rng(4)
    x = np.arange(90) + 0.5 - 60
    y = 0.1 * rng.standard_normal((20, 90))
    y[:10] += 0.5 * np.clip((x + 30) / 60, 0, 1)
    y[10:] += 0.5 * (x > 0)
    w = rng.uniform(0.5, 1.5, y.shape)

    found = find_slopes(y, w, np.full(20, 0.01), deploy=60, window=30, close=(54, 65))

    even = [
        np.clip((x + begin) / length, 0, 1)
        for begin, length in product((10, 15, 20, 30, 45, 60), (10, 20, 30, 60))
    ]
    ramps = [
        *even,
        *(np.log1p(b * u) / np.log1p(b) for b in (2, 8, -0.7) for u in even),
    ]
    own = [(x > at).astype(float) for at in range(-6, 6)] + [
        np.clip((x - at) / length, 0, 1)
        for at, length in product((-6, -3, 0, 2, 5), (10, 20, 30, 60))
    ]
    slow = [
        max(slow_gain(*one, ramp) for ramp in ramps)
        > max(slow_gain(*one, step) for step in own) + 0.03
        for one in zip(y, w, strict=True)
    ]
    assert np.mean(found.slope == np.array(slow)) >= 0.9
    assert found.slope[:10].mean() >= 0.7
    assert not found.slope[10:].any()


def test_where_no_time_before_the_tolerance_is_known_nothing_is_a_slope():
    values = np.linspace(0.0, 1.0, 20)[None]

    found = find_slopes(
        values, np.ones((1, 20)), np.ones(1), deploy=6, window=10, close=(2, 9)
    )

    assert not found.slope.any()
