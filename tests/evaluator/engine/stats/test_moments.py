"""Levels and sums of many series, against one series at a time."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from evaluator.engine.stats.moments import (
    NORMAL_MAD,
    in_columns,
    medians,
    robust_deviation,
    sum_in_order,
    weighted_mean,
    weighted_sum,
)


@pytest.mark.parametrize("share", [1.0, 0.7, 0.1])
@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_a_median_is_that_of_what_is_present(share, n):
    rng = np.random.default_rng(n)
    values, present = rng.normal(size=(50, n)), rng.random((50, n)) < share

    slow = [
        statistics.median(row[kept]) if kept.any() else 0.0
        for row, kept in zip(values, present, strict=True)
    ]

    assert medians(values, present)[:, 0] == pytest.approx(slow)


def test_of_no_interval_the_median_is_zero():
    assert medians(np.empty((2, 0)), np.empty((2, 0), dtype=bool)).tolist() == [
        [0],
        [0],
    ]


def test_the_robust_deviation_is_one_of_normal_noise_whatever_the_outliers():
    values = np.random.default_rng(1).normal(size=(1, 100_001))
    values[:, :1000] = 1e6
    present = np.ones(values.shape, dtype=bool)

    assert robust_deviation(values, present)[0, 0] == pytest.approx(1.0, abs=0.03)
    assert statistics.NormalDist().inv_cdf(0.75) == pytest.approx(NORMAL_MAD)


def test_a_sum_has_the_same_bits_alone_in_a_crowd_and_between_zeros():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(200, 61)) * 10.0 ** rng.integers(-6, 6, (200, 61))
    spread = np.zeros((200, 150))
    spread[:, np.sort(rng.choice(150, 61, replace=False))] = values

    whole = sum_in_order(values)

    assert sum_in_order(spread).tolist() == whole.tolist()
    assert [sum_in_order(row[None, :])[0] for row in values] == whole.tolist()
    assert whole.tolist() == [sum(row.tolist()) for row in values]


def test_few_series_get_the_company_of_zeros():
    columns = in_columns(np.array([[1.0, 2.0, 3.0]]))

    assert columns.shape[0] == 3
    assert columns[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert not columns[:, 1:].any()


def test_weights_count_and_nothing_of_weight_is_zero():
    values, weights = np.array([[1.0, 5.0], [2.0, 3.0]]), np.array([[3.0, 1.0], [0, 0]])

    assert weighted_sum(values, weights).tolist() == [8.0, 0.0]
    assert weighted_mean(values, weights).tolist() == [2.0, 0.0]
