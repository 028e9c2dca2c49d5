"""Intervals by leaving out blocks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluator.engine.stats.jackknife import half_width


def leave_one_out(values):
    return np.array([[np.delete(values, block).mean()] for block in range(values.size)])


def test_of_one_mean_it_is_the_interval_of_students_t():
    values = np.random.default_rng(1).normal(size=8)
    still = np.zeros((8, 1))

    (width,) = half_width([leave_one_out(values), still])

    error = values.std(ddof=1) / np.sqrt(8)
    assert width == pytest.approx(stats.t.ppf(0.975, 7) * error)


def test_of_the_difference_of_two_means_it_is_that_of_welch():
    rng = np.random.default_rng(2)
    one, other = rng.normal(size=6), 3.0 * rng.normal(size=8)

    (width,) = half_width([leave_one_out(one), leave_one_out(other)])

    found = stats.ttest_ind(other, one, equal_var=False).confidence_interval(0.95)
    assert 2 * width == pytest.approx(found.high - found.low)


def test_with_too_few_blocks_nothing_is_known():
    assert np.isnan(half_width([np.zeros((2, 3)), np.zeros((8, 3))])).all()


def test_what_does_not_vary_is_known_exactly():
    assert half_width([np.ones((8, 1)), np.ones((8, 1))]).tolist() == [0.0]
