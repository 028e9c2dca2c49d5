"""Welch's test against its definition, down to the smallest p-values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluator.engine.stats.welch import welch_test, welch_tests
from tests import reference


@pytest.mark.parametrize("shift", [0.0, 0.01, 0.3, 3.0, -0.3])
def test_it_agrees_with_its_slow_twin(shift):
    rng = np.random.default_rng(7)
    left, right = rng.lognormal(0, 0.2, 25), rng.lognormal(0, 0.4, 35) + shift

    test = welch_test(left, right)

    t, nu, p = reference.welch(left.tolist(), right.tolist())
    assert (test.t, test.nu) == pytest.approx((t, nu))
    assert test.p_nominal == pytest.approx(p, rel=1e-8, abs=1e-14)
    assert test.upward is bool(right.mean() > left.mean())


def test_it_agrees_with_scipy():
    rng = np.random.default_rng(8)
    left, right = rng.normal(1, 0.1, 10), rng.normal(1.05, 0.3, 50)

    expected = stats.ttest_ind(right, left, equal_var=False)

    assert welch_test(left, right).p_nominal == pytest.approx(expected.pvalue)


def test_a_tiny_p_value_does_not_become_zero():
    left, right = np.tile([1.0, 1.1], 30), np.tile([9.0, 9.1], 30)

    assert 0.0 < welch_test(left, right).p_nominal < 1e-200


@pytest.mark.parametrize(("right", "p"), [(2.0, 0.0), (1.0, 1.0)])
def test_without_any_spread_only_the_means_decide(right, p):
    test = welch_test(np.full(5, 1.0), np.full(5, right))

    assert (test.p_nominal, test.t, test.nu) == (p, None, None)


def test_a_spread_that_is_only_rounding_is_none():
    counter = 12.6 + np.cumsum(np.full(31, 0.43))
    means = np.diff(counter) / 43

    test = welch_test(means, means + 0.005)

    assert means.min() < means.max()
    assert test.t is None


def test_one_value_has_no_variance():
    with pytest.raises(ValueError, match="at least two values"):
        welch_test(np.ones(1), np.ones(5))


@pytest.mark.parametrize("n", [7, 60, 133, 300])
def test_a_series_gets_the_same_bits_alone_as_in_a_crowd(n):
    rng = np.random.default_rng(n)
    values, splits = rng.lognormal(-5, 0.5, (300, n)), rng.integers(2, n - 1, 300)
    values[7] = 0.01  # no spread at all

    tests = welch_tests(values, splits)
    together = [tests.test(row) for row in range(300)]

    alone = [
        welch_test(row[:split], row[split:])
        for row, split in zip(values, splits, strict=True)
    ]
    assert together == alone


def test_no_series_at_all_gives_no_test():
    assert welch_tests(np.empty((0, 9)), np.empty(0, dtype=int)).t.size == 0
