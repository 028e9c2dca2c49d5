"""Transients after the deploy, and noise that grows with it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bench.measures import many_queries
from bench.unforeseen import UNFORESEEN
from evaluator.engine.noise.transient import added_variance, passed_intervals


def noise(s: int, t: int = 30, seed: int = 1):
    return np.random.default_rng(seed).standard_normal((s, t))


def passed(values, *, weights=None, head=6):
    weights = np.ones(values.shape) if weights is None else weights
    return passed_intervals(values, weights, np.ones(len(values)), head) > 0


def test_a_slow_start_that_passes_is_seen():
    values = noise(1000)
    values[:, :3] += 4.0

    assert passed(values).mean() > 0.97


def test_what_stays_slow_is_not_a_transient():
    """By chance the first intervals of a fiftieth stand out."""
    assert passed(noise(5000) + 3.0).mean() == pytest.approx(0.023, abs=0.01)


def test_a_start_that_is_quick_is_none():
    values = noise(1000)
    values[:, :3] -= 4.0

    assert not passed(values).any()


@pytest.mark.parametrize("gone", [slice(0, 6), slice(6, 30), slice(9, 30)])
def test_without_enough_on_both_sides_nothing_is_reported(gone):
    values, weights = noise(20) + 9.0 * (np.arange(30) < 6), np.ones((20, 30))
    weights[:, gone] = 0.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")

        assert not passed(values, weights=weights).any()


def test_a_tolerance_beyond_all_intervals_tells_nothing():
    assert not passed(noise(20) + 9.0 * (np.arange(30) < 6), head=30).any()


@pytest.mark.parametrize("head", [0, 6])
def test_a_transient_longer_than_the_tolerance_is_left_out_as_a_whole(head):
    values = noise(1000) + 3.0 * (np.arange(30) < 14)
    weights, variance = np.ones(values.shape), np.ones(1000)

    gone = passed_intervals(values, weights, variance, head)

    assert np.mean(gone >= 15) > 0.95


def more(values, phi=0.0):
    s = len(values)
    return added_variance(values, np.ones(values.shape), np.ones(s), np.full(s, phi))


def test_the_usual_noise_hardly_ever_grows():
    assert np.mean(more(noise(5000)) > 0) == pytest.approx(0.05, abs=0.015)


def test_noise_twice_as_wide_has_most_of_its_four_times_the_variance():
    """A thirtieth is the error of the mean of thirty usual intervals."""
    assert np.median(more(2.0 * noise(2000))) * 30.0 == pytest.approx(1.7, abs=0.2)


def test_dependence_makes_a_growth_less_sure():
    assert np.all(more(2.0 * noise(50), phi=0.8) < more(2.0 * noise(50)))


def test_the_level_does_not_count_as_noise():
    assert more(noise(50) + 7.0) == pytest.approx(more(noise(50)), abs=1e-12)


def test_a_query_without_any_interval_or_with_one_adds_nothing():
    weights = np.zeros((2, 30))
    weights[1, 3] = 1.0

    found = added_variance(noise(2), weights, np.ones(2), np.zeros(2))

    assert list(found) == [0.0, 0.0]


# What of the 30 regressions is found at least; four standard errors of it
# are .35.
LEAST = {"noisier after": 0.2}
# Next to none is found where neighbours depend on each other of late: a known limit,
# docs/statistics.md.
MISSED = {"dependent of late": 0.35}


@pytest.mark.parametrize("name", UNFORESEEN)
def test_what_was_not_foreseen_raises_few_false_alarms(name):
    found = many_queries(UNFORESEEN[name], deploys=3, seed=94)

    assert found["alert"].false_alarms <= 2.0
    assert found["alert"].false_alarms < found["classic"].false_alarms / 4
    if name in MISSED:
        assert found["alert"].power <= MISSED[name]
    else:
        assert found["alert"].power >= LEAST.get(name, 0.5)
