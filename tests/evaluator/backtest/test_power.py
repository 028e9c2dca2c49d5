"""Required sample size: the formula, the measured noise, and the simulated engine."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.backtest.power import (
    detectable_factor,
    intervals_needed,
    noise_of,
    required_sample_size,
)
from evaluator.backtest.simulation import simulated_power
from evaluator.model import Settings
from evaluator.model.sample_size import Noise
from tests.builders import counters, noise
from tests.queries import interval_means

CLASSIC = Settings(engine="classic")


def measured(means, calls=40.0, **more):
    series = counters(means, calls, **more)
    (intervals,) = interval_means([series], -np.inf, np.inf, max_gap=300)
    return noise_of(intervals)


@pytest.mark.parametrize(
    ("cv", "rise", "intervals"), [(1.0, 0.1, 1570), (0.3, 0.2, 36), (0.3, 0.5, 6)]
)
def test_the_formula_is_15_7_times_cv_squared_over_the_rise_squared(
    cv, rise, intervals
):
    assert intervals_needed(cv, rise) == intervals
    assert intervals == int(np.ceil(15.6978 * cv**2 / rise**2))


def test_the_noise_of_a_query_is_measured():
    rng = np.random.default_rng(5)

    found = measured(0.02 * noise(rng, 2000, cv=0.3), calls=25, step=15)

    assert found.cv == pytest.approx(0.3, rel=0.1)
    assert found.phi == pytest.approx(0.0, abs=0.1)
    assert (found.calls, found.spacing) == (25, pytest.approx(15))


def test_neighbours_that_resemble_each_other_are_noticed():
    rng = np.random.default_rng(6)
    smooth = np.convolve(rng.normal(size=4001), [1.0, 1.0], "valid")

    assert measured(0.02 * np.exp(0.1 * smooth)).phi == pytest.approx(0.5, abs=0.05)


def test_a_few_outliers_do_not_rule_the_noise():
    rng = np.random.default_rng(7)
    means = 0.02 * noise(rng, 400, cv=0.1)
    means[::40] *= 50.0

    assert measured(means).cv == pytest.approx(0.1, rel=0.15)


@pytest.mark.parametrize("means", [np.full(19, 0.01), np.zeros(40)])
def test_too_few_usable_intervals_give_no_noise(means):
    assert measured(means) is None


def test_a_query_that_never_varies_still_has_a_noise():
    assert measured(np.full(40, 0.01)).cv == 1e-3


def test_the_detectable_factor_stands_clear_of_the_pre_filter():
    quiet = detectable_factor(0.01, threshold=0.2, alpha=0.025)

    assert 1.2 < quiet < 1.22


def test_the_detectable_factor_grows_with_the_noise_and_with_the_queries():
    alone = detectable_factor(0.2, threshold=0.2, alpha=0.05)
    noisier = detectable_factor(0.3, threshold=0.2, alpha=0.05)
    among_many = detectable_factor(0.2, threshold=0.2, alpha=0.05, queries=1000)

    assert noisier > alone
    assert among_many > alone


@pytest.mark.statistical
def test_the_detectable_factor_is_found_in_four_of_five():
    """4,000 trials: 0.8 within 0.03, which is over 4 standard errors."""
    rng = np.random.default_rng(8)
    factor = detectable_factor(0.2, threshold=0.2, alpha=0.025)
    seen = np.log(factor) + rng.normal(0.0, 0.2, 4000)

    found = np.mean((seen > 0.2 * 1.95996) & (seen >= np.log(1.2)))

    assert found == pytest.approx(0.8, abs=0.03)


@pytest.mark.statistical
def test_a_longer_window_finds_more():
    loud = Noise(cv=0.5, phi=0.0, calls=40, spacing=60)

    short, long = (
        simulated_power(loud, 0.5, intervals, CLASSIC, np.random.default_rng(9))
        for intervals in (10, 60)
    )

    assert short < 0.7 < 0.85 < long


@pytest.mark.statistical
@pytest.mark.parametrize("engine", ["classic", "calibrated"])
def test_simulation_finds_which_window_is_enough(engine):
    loud = Noise(cv=0.3, phi=0.0, calls=40, spacing=60)

    found = required_sample_size(
        loud, 0.5, Settings(engine=engine), np.random.default_rng(1)
    )

    assert found.formula == 6
    assert found.simulated in (10, 15, 20)
    assert found.power >= 0.8


def test_the_same_seed_gives_the_same_sample_size():
    loud = Noise(cv=0.4, phi=0.3, calls=40, spacing=60)

    first, second = (
        required_sample_size(loud, 0.5, CLASSIC, np.random.default_rng(2))
        for _ in range(2)
    )

    assert first == second


def test_a_rise_below_the_threshold_is_tried_with_half_of_itself():
    quiet = Noise(cv=0.02, phi=0.0, calls=40, spacing=60)

    found = required_sample_size(quiet, 0.1, CLASSIC, np.random.default_rng(3))

    assert found.threshold == pytest.approx(0.05)
    assert found.simulated == 10


def test_a_rise_that_no_simulated_window_finds_has_no_sample_size():
    wild = Noise(cv=3.0, phi=0.0, calls=40, spacing=60)

    found = required_sample_size(wild, 0.1, CLASSIC, np.random.default_rng(4))

    assert found.simulated is None
    assert found.longest == 240
    assert found.power < 0.8


def test_the_floor_of_calls_counts_too():
    rare = Noise(cv=0.02, phi=0.0, calls=2, spacing=60)

    found = required_sample_size(rare, 1.0, CLASSIC, np.random.default_rng(5))

    assert found.simulated == 60


@pytest.mark.parametrize(
    "fields",
    [{"cv": 0.0}, {"phi": 1.0}, {"calls": 0.0}, {"spacing": 0.0}],
)
def test_an_impossible_noise_is_refused(fields):
    with pytest.raises(ValueError):
        Noise(**{"cv": 0.3, "phi": 0.0, "calls": 40.0, "spacing": 60.0, **fields})
