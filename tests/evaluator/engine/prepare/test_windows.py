"""What belongs before and after the deploy, and how much of it is enough."""

from __future__ import annotations

import numpy as np
import pytest
from evaluator.engine.prepare.prefilter import matters

from evaluator.engine.prepare.windows import compare
from evaluator.model import Comparison, Insufficient
from tests.builders import DEPLOY_AT, counters, scrapes
from tests.queries import interval_means


def _compare(series, *, at=DEPLOY_AT, min_samples=10, min_calls=100):
    intervals = interval_means([series], -np.inf, np.inf, max_gap=300)
    (found,) = compare(intervals, at=at, min_samples=min_samples, min_calls=min_calls)
    return found


def test_an_interval_across_the_deploy_is_on_neither_side():
    series = scrapes((0, 0, 0), (10, 10, 1), (20, 20, 2), (30, 30, 3))

    result = _compare(series, at=15.0, min_samples=1, min_calls=1)

    assert (result.before.samples, result.after.samples) == (1, 1)


def test_intervals_that_touch_the_deploy_are_on_their_side():
    series = scrapes((0, 0, 0), (10, 10, 1), (20, 30, 4))

    result = _compare(series, at=10.0, min_samples=1, min_calls=1)

    assert (result.before.calls, result.after.calls) == (10, 20)


def test_the_means_are_weighted_by_calls():
    series = scrapes((0, 0, 0), (10, 1, 1.0), (20, 100, 1.99), (30, 200, 3.99))

    result = _compare(series, at=20.0, min_samples=1, min_calls=1)

    assert isinstance(result, Comparison)
    assert result.before.mean == pytest.approx(1.99 / 100)
    assert result.factor == pytest.approx(0.02 / 0.0199)


def test_what_is_missing_is_named_with_its_floor():
    result = _compare(counters(np.full(18, 0.01), calls=5))

    assert isinstance(result, Insufficient)
    assert result.reason == (
        "9 of 10 intervals before the deploy, 45 of 100 calls before the deploy, "
        "9 of 10 intervals after the deploy, 45 of 100 calls after the deploy"
    )


def test_exactly_the_floors_is_enough():
    assert isinstance(_compare(counters(np.full(20, 0.01), calls=10)), Comparison)


def test_no_time_before_the_deploy_cannot_be_divided_by():
    result = _compare(counters([0.0] * 15 + [0.01] * 15))

    assert isinstance(result, Insufficient)
    assert "no execution time" in result.reason


@pytest.mark.parametrize(("rise", "answer"), [(1.19, False), (1.25, True)])
def test_only_a_rise_of_the_threshold_matters(rise, answer):
    result = _compare(counters([0.01] * 15 + [0.01 * rise] * 15))

    assert isinstance(result, Comparison)
    assert matters(result, threshold=0.2) is answer


def test_together_and_one_by_one_are_the_same_sums():
    rng = np.random.default_rng(4)
    many = [
        counters(rng.lognormal(-5, 0.5, n), rng.integers(1, 99, n).astype(float))
        for n in rng.integers(2, 90, 200)
    ]
    intervals = interval_means(many, -np.inf, np.inf, max_gap=300)

    together = compare(intervals, at=DEPLOY_AT, min_samples=10, min_calls=100)

    assert together == [_compare(one) for one in many]


def test_a_side_without_intervals_is_empty():
    result = _compare(counters(np.full(8, 0.01)), at=DEPLOY_AT + 9000)

    assert (result.after.samples, result.after.calls, result.after.duration) == (
        0,
        0,
        0,
    )
    assert result.after.mean is None
