"""How much dependence inflates the variance of a mean."""

from __future__ import annotations

import numpy as np
import pytest

from bench.noise import autoregression, moving_average
from evaluator.engine.noise.autocorrelation import (
    autoregressive_inflation,
    batch_inflation,
    lend,
    phi_before,
)


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.7])
def test_phi_is_found_without_bias(phi):
    noise = autoregression(np.random.default_rng(1), phi, 2000, 240)
    noise -= noise.mean(axis=1, keepdims=True)

    assert phi_before(noise).mean() == pytest.approx(phi, abs=0.01)


@pytest.mark.parametrize(
    ("make", "inflation"),
    [
        (lambda rng: rng.standard_normal((2000, 240)), 1.0),
        (lambda rng: autoregression(rng, 0.5, 2000, 240), 2.8),
        (lambda rng: moving_average(rng, 4, 2000, 240), 3.75),
    ],
    ids=["independent", "phi 0.5", "moving average"],
)
def test_batches_see_dependence_of_any_kind(make, inflation):
    """The variance of sums of 20 over that of independent intervals."""
    noise = make(np.random.default_rng(2))
    noise -= noise.mean(axis=1, keepdims=True)
    found, _ = batch_inflation(noise, np.ones(noise.shape, dtype=bool), 20)

    assert found.mean() == pytest.approx(inflation, rel=0.05)


def test_absent_intervals_cost_degrees_of_freedom():
    noise = np.random.default_rng(3).standard_normal((2, 240))
    present = np.ones((2, 240), dtype=bool)
    present[1, :120] = False
    _, freedom = batch_inflation(np.where(present, noise, 0.0), present, 20)

    assert freedom[1] == pytest.approx(freedom[0] / 2)


@pytest.mark.parametrize("phi", [0.0, 0.5])
def test_two_windows_alone_show_a_first_order_dependence(phi):
    noise = autoregression(np.random.default_rng(4), phi, 2000, 60)
    for side in (slice(0, 30), slice(30, 60)):
        noise[:, side] -= noise[:, side].mean(axis=1, keepdims=True)
    found, _, freedom = autoregressive_inflation(
        noise, np.ones(noise.shape, dtype=bool)
    )

    assert np.median(found) == pytest.approx(phi, abs=0.06)
    assert np.all(freedom >= 3.0)


def test_queries_that_are_alike_lend_each_other_almost_all():
    rng = np.random.default_rng(5)
    inflation = 2.0 * rng.chisquare(14.0, 500) / 14.0
    shared, freedom = lend(inflation, np.full(500, 14.0))

    assert shared == pytest.approx(2.0, rel=0.1)
    assert freedom.min() > 100.0


def test_queries_that_differ_keep_most_of_their_own():
    rng = np.random.default_rng(6)
    truth = np.exp(rng.normal(0.0, 1.0, 500))
    inflation = truth * rng.chisquare(14.0, 500) / 14.0
    shared, freedom = lend(inflation, np.full(500, 14.0))

    assert np.corrcoef(np.log(shared), np.log(truth))[0, 1] > 0.9
    assert freedom.max() < 25.0
