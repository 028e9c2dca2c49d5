"""The best split of many series at once, and its slow twin by the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.engine.stats.energy_split import best_splits, min_segment
from tests import reference


@given(
    values=st.lists(st.floats(0, 1e3, allow_subnormal=False), min_size=6, max_size=45),
    scale=st.sampled_from([1e-7, 1.0, 1e6]),
)
def test_the_statistic_agrees_with_its_definition(values, scale):
    x = np.array(values) * scale

    _, statistics = best_splits(x[None, :])

    _, largest = reference.best_split(x.tolist())
    assert statistics[0] == pytest.approx(largest, rel=1e-9, abs=1e-10 * np.ptp(x))


@pytest.mark.parametrize("n", [6, 7, 29, 30, 60, 61, 240])
def test_the_split_is_the_one_of_the_definition(n):
    rng = np.random.default_rng(n)
    x = rng.lognormal(0, 0.3, (5, n))
    x[:, n // 3 :] += 0.2

    splits, _ = best_splits(x)

    assert splits.tolist() == [reference.best_split(row)[0] for row in x.tolist()]


def test_a_constant_series_has_no_change_at_all():
    _, statistics = best_splits(np.full((1, 40), 0.1))

    assert statistics[0] == 0.0


def test_of_equally_good_splits_the_first_is_taken():
    x = np.array([[0, 0, 0, 1, 1, 1, 0, 0, 0]], dtype=float)

    assert best_splits(x)[0][0] == 3


@pytest.mark.parametrize("crowd", [1, 2, 9, 300])
def test_a_series_gets_the_same_bits_alone_and_in_a_crowd(crowd):
    rng = np.random.default_rng(crowd)
    x = rng.lognormal(0, 0.4, (crowd, 60))

    together = best_splits(x)

    alone = [best_splits(row[None, :]) for row in x]
    assert together[0].tolist() == [split[0] for split, _ in alone]
    assert together[1].tolist() == [q[0] for _, q in alone]


@pytest.mark.parametrize(("n", "m"), [(20, 3), (39, 3), (40, 4), (60, 6)])
def test_a_segment_is_at_least_a_tenth_of_the_series(n, m):
    assert min_segment(n) == m


def test_a_series_too_short_to_be_split_is_refused():
    with pytest.raises(ValueError, match="5 values cannot be split"):
        best_splits(np.ones((1, 5)))
