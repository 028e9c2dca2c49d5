"""How much each interval can be trusted, from its calls."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.noise.weights import relative_variance, variance_ratio


def traffic(seed: int):
    """(50, 240) calls between 10 and 1,000, all present."""
    rng = np.random.default_rng(seed)
    calls = np.round(10 ** rng.uniform(1, 3, (50, 240)))
    return rng, calls, np.ones(calls.shape, dtype=bool)


def test_noise_from_call_to_call_is_told_from_noise_between_intervals():
    rng, calls, present = traffic(1)
    noise = rng.standard_normal(calls.shape)

    between, *_ = variance_ratio(noise, calls, present)
    within, *_ = variance_ratio(noise / np.sqrt(calls), calls, present)

    assert np.mean(between == 0.0) > 0.8
    assert np.mean(within == 1e6) > 0.8


def test_a_usual_interval_has_variance_one():
    calls = np.array([[50.0, 100.0, 200.0]])
    present = np.ones((1, 3), dtype=bool)
    usual = np.array([[100.0]])

    found = relative_variance(calls, present, np.array([[1e6]]), usual)
    flat = relative_variance(calls, present, np.array([[0.0]]), usual)

    assert found[0] == pytest.approx([2.0, 1.0, 0.5], rel=1e-5)
    assert flat[0] == pytest.approx([1.0, 1.0, 1.0])


def test_steady_traffic_weighs_all_alike_whatever_is_chosen():
    noise = np.random.default_rng(2).standard_normal((5, 60))
    calls, present = np.full((5, 60), 30.0), np.ones((5, 60), dtype=bool)
    ratio, usual, _ = variance_ratio(noise, calls, present)

    assert relative_variance(calls, present, ratio, usual) == pytest.approx(1.0)


def test_absent_intervals_are_not_asked():
    rng, calls, present = traffic(3)
    noise = rng.standard_normal(calls.shape) / np.sqrt(calls)
    present[:, ::3] = False
    spoilt = np.where(present, noise, 1e3)
    ratio, usual, _ = variance_ratio(spoilt, np.where(present, calls, 0.0), present)

    assert np.mean(ratio == 1e6) > 0.8
    assert np.all(np.isfinite(usual))
