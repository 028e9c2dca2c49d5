"""The lag-one autocorrelation: exact on small series, true on simulated ones."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.stats.ar1 import (
    LARGEST_PHI,
    inflation,
    lag_one,
    phi_around_one_mean,
    phi_around_two_means,
    simulate,
)


def test_neighbours_are_multiplied_and_compared_with_the_squares():
    values = np.array([[1.0, 2.0, -3.0], [0.0, 0.0, 0.0]])

    assert lag_one(values) == pytest.approx([(2.0 - 6.0) / 14.0, 0.0])


@pytest.mark.parametrize("phi", [-0.3, 0.0, 0.3, 0.6, 0.8])
def test_what_is_simulated_has_the_correlation_asked_for(phi):
    noise = simulate(np.random.default_rng(1), phi, 400, 500)

    assert lag_one(noise).mean() == pytest.approx(phi, abs=0.01)
    assert noise.var() == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.6])
def test_the_mean_that_is_taken_out_biases_nothing(phi):
    noise = simulate(np.random.default_rng(2), phi, 4000, 60)
    around_one = noise - noise.mean(axis=1, keepdims=True)
    halves = noise.reshape(-1, 2, 30)
    around_two = (halves - halves.mean(axis=2, keepdims=True)).reshape(-1, 60)

    assert lag_one(around_one).mean() < phi - 0.01
    # The corrections are of the first order.
    assert phi_around_one_mean(around_one).mean() == pytest.approx(phi, abs=0.02)
    if phi > 0:  # It is never below 0, so that its mean at 0 is above.
        two = phi_around_two_means(around_two, 60).mean()
        assert two == pytest.approx(phi, abs=0.05)


def test_a_trend_is_not_taken_for_more_than_the_largest_correlation():
    trend = np.linspace(-1.0, 1.0, 500)[None, :]

    assert phi_around_one_mean(trend).tolist() == [LARGEST_PHI]
    assert phi_around_two_means(trend, 500).tolist() == [LARGEST_PHI]


def test_a_long_mean_varies_as_much_as_the_inflation_says():
    noise = simulate(np.random.default_rng(3), 0.6, 4000, 400)

    assert 400 * noise.mean(axis=1).var() == pytest.approx(
        float(inflation(np.array(0.6))), rel=0.06
    )
