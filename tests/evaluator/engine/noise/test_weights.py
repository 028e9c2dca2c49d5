"""How much each interval can be trusted, from its calls."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.noise.weights import VarianceRatio, variance_ratio


def traffic(seed: int):
    """(50, 240) calls between 10 and 1,000, all present."""
    rng = np.random.default_rng(seed)
    calls = np.round(10 ** rng.uniform(1, 3, (50, 240)))
    return rng, calls, np.ones(calls.shape, dtype=bool)


def test_noise_from_call_to_call_is_distinguished_from_noise_between_intervals():
    rng, calls, present = traffic(1)
    noise = rng.standard_normal(calls.shape)

    between = variance_ratio(noise, calls, present).ratio
    within = variance_ratio(noise / np.sqrt(calls), calls, present).ratio

    assert np.mean(between == 0.0) > 0.8
    assert np.mean(within == 1e6) > 0.8


def test_a_usual_interval_has_variance_one():
    calls = np.array([[50.0, 100.0, 200.0]])
    present = np.ones((1, 3), dtype=bool)
    usual = np.array([[100.0]])

    found, flat = (
        VarianceRatio(np.array([[ratio]]), usual, usual).relative_variance(
            calls, present
        )
        for ratio in (1e6, 0.0)
    )

    assert found[0] == pytest.approx([2.0, 1.0, 0.5], rel=1e-5)
    assert flat[0] == pytest.approx([1.0, 1.0, 1.0])


def test_steady_traffic_weighs_all_alike_whatever_is_chosen():
    noise = np.random.default_rng(2).standard_normal((5, 60))
    calls, present = np.full((5, 60), 30.0), np.ones((5, 60), dtype=bool)
    found = variance_ratio(noise, calls, present)

    assert found.relative_variance(calls, present) == pytest.approx(1.0)


def test_absent_intervals_are_not_asked():
    rng, calls, present = traffic(3)
    noise = rng.standard_normal(calls.shape) / np.sqrt(calls)
    present[:, ::3] = False
    spoilt = np.where(present, noise, 1e3)
    found = variance_ratio(spoilt, np.where(present, calls, 0.0), present)

    assert np.mean(found.ratio == 1e6) > 0.8
    assert np.all(np.isfinite(found.typical))
