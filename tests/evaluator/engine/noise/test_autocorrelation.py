"""How much dependence inflates the variance of a mean."""

from __future__ import annotations

import numpy as np
import pytest

from bench.noise import autoregression, moving_average
from evaluator.engine.noise.autocorrelation import (
    autoregressive,
    batch_inflation,
    shrink,
)
from evaluator.engine.stats.ar1 import phi_around_one_mean


def inflation_of(noise, present=None):
    """Of sums of 20 intervals."""
    present = np.ones(noise.shape, dtype=bool) if present is None else present
    so_far = np.concatenate([np.zeros((len(noise), 1)), noise.cumsum(axis=1)], axis=1)
    squares = (noise * noise).sum(axis=1)
    return batch_inflation(so_far, squares, present.sum(axis=1), 20)


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.7])
def test_phi_is_found_without_bias(phi):
    noise = autoregression(np.random.default_rng(1), phi, 2000, 240)
    noise -= noise.mean(axis=1, keepdims=True)

    assert phi_around_one_mean(noise).mean() == pytest.approx(phi, abs=0.01)


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
    found, _ = inflation_of(noise)

    assert found.mean() == pytest.approx(inflation, rel=0.05)


def test_absent_intervals_cost_degrees_of_freedom():
    noise = np.random.default_rng(3).standard_normal((2, 240))
    present = np.ones((2, 240), dtype=bool)
    present[1, :120] = False
    _, dof = inflation_of(np.where(present, noise, 0.0), present)

    assert dof[1] == pytest.approx(dof[0] / 2)


@pytest.mark.parametrize("phi", [0.0, 0.5])
def test_two_windows_alone_show_a_first_order_dependence(phi):
    noise = autoregression(np.random.default_rng(4), phi, 2000, 60)
    for side in (slice(0, 30), slice(30, 60)):
        noise[:, side] -= noise[:, side].mean(axis=1, keepdims=True)
    found = autoregressive(noise, np.ones(noise.shape, dtype=bool))

    assert np.median(found.phi) == pytest.approx(phi, abs=0.06)
    assert np.all(found.dof >= 3.0)


def test_queries_that_are_alike_share_almost_all():
    rng = np.random.default_rng(5)
    inflation = 2.0 * rng.chisquare(14.0, 500) / 14.0
    shared, dof = shrink(inflation, np.full(500, 14.0))

    assert shared == pytest.approx(2.0, rel=0.1)
    assert dof.min() > 100.0


def test_queries_that_differ_keep_most_of_their_own():
    rng = np.random.default_rng(6)
    truth = np.exp(rng.normal(0.0, 1.0, 500))
    inflation = truth * rng.chisquare(14.0, 500) / 14.0
    shared, dof = shrink(inflation, np.full(500, 14.0))

    assert np.corrcoef(np.log(shared), np.log(truth))[0, 1] > 0.9
    assert dof.max() < 25.0
