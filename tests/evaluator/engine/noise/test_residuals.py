"""Logarithms around a query's own level."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.noise.residuals import (
    around_sides,
    bias_corrected,
    log_residuals,
    winsorise,
)
from evaluator.engine.stats.moments import medians, robust_deviation

ALL = np.ones((1, 5), dtype=bool)


def test_the_median_skips_what_is_absent():
    values = np.array([[1.0, 100.0, 3.0, 100.0, 2.0], [4.0, 9.0, 9.0, 9.0, 6.0]])
    present = values < 9

    assert medians(values, present)[:, 0] == pytest.approx([2.0, 5.0])


def test_a_row_without_values_has_median_zero():
    assert medians(np.ones((1, 5)), ~ALL)[0, 0] == 0.0


def test_a_rise_by_a_factor_is_a_step_of_its_logarithm():
    means = np.array([[0.01, 0.01, 0.01, 0.02, 0.02]])

    residuals = log_residuals(means, ALL, before=3)

    assert residuals[0] == pytest.approx([0, 0, 0, np.log(2), np.log(2)])


def test_a_time_too_short_to_be_stored_is_small_and_not_infinite():
    residuals = log_residuals(np.array([[0.0, 0.01, 0.01, 0.01, 0.0]]), ALL, before=3)

    assert residuals[0, 0] == pytest.approx(np.log(1e-3))


def test_a_query_that_takes_no_time_at_all_has_a_level_nevertheless():
    assert np.all(np.isfinite(log_residuals(np.zeros((1, 5)), ALL, before=3)))


def test_the_robust_deviation_of_normal_noise_is_its_standard_deviation():
    noise = 0.3 * np.random.default_rng(1).standard_normal((1, 20_000))

    assert robust_deviation(noise, np.isfinite(noise))[0, 0] == pytest.approx(
        0.3, rel=0.03
    )


def test_outliers_are_pulled_in_towards_the_centre():
    values = np.array([[-9.0, 0.5, 9.0, 0.0, 1.0]])

    winsorise(values, centre=np.full((1, 1), 0.5), reach=np.full((1, 1), 2.0))

    assert values[0] == pytest.approx([-1.5, 0.5, 2.5, 0.0, 1.0])


def test_bias_corrected_logarithms_do_not_rise_with_the_calls():
    """Means of log-normal values with four times the variance have a lower log."""
    rng = np.random.default_rng(2)
    variance = np.where(np.arange(40_000) < 20_000, 4.0, 1.0)[None, :]
    sigma = np.sqrt(0.09 * variance)
    logs = sigma * rng.standard_normal(variance.shape) - sigma**2 / 2

    corrected = bias_corrected(logs, variance, np.array([[0.3]]))

    first, second = corrected[0, :20_000].mean(), corrected[0, 20_000:].mean()
    assert first == pytest.approx(second, abs=0.02)


def test_a_rise_is_not_a_dependence_where_the_weights_vary():
    rng = np.random.default_rng(31)
    roots = np.sqrt(np.repeat(rng.uniform(0.1, 1.0, (50, 12)), 5, axis=1))
    noise = rng.standard_normal((50, 60))
    rise = 3.0 * (np.arange(60) >= 30)

    found = around_sides(noise + rise * roots, roots, 30, 30)

    quiet = around_sides(noise, roots, 30, 30)
    assert found == pytest.approx(quiet, abs=1e-12)
    assert np.sum(found[:, 1:] * found[:, :-1]) / np.sum(found**2) < 0.05
