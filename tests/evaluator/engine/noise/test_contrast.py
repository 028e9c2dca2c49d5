"""Means before and after, scores, and what placebos add."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluator.engine.noise.contrast import (
    Contrast,
    Run,
    RunningSums,
    TailStretch,
    normal_score,
    tail_stretch,
)


def contrast(values, weights, before, after):
    """The run *after* against the run *before*."""
    runs = (Run.of(values[:, run], weights[:, run]) for run in (before, after))
    return Contrast(*runs)


def test_running_sums_give_the_same_runs():
    rng = np.random.default_rng(5)
    values, weights = rng.normal(size=(3, 40)), rng.random((3, 40))
    weights[1, 10:20] = 0.0

    found = RunningSums(values, weights).runs([0, 10, 25], 10)

    for place, start in enumerate((0, 10, 25)):
        run = slice(start, start + 10)
        alone = Run.of(values[:, run], weights[:, run])
        assert found.weight[:, place] == pytest.approx(alone.weight)
        assert found.mean[:, place] == pytest.approx(alone.mean, abs=1e-9)


def test_the_rise_is_the_difference_of_weighted_means():
    values = np.array([[1.0, 3.0, 7.0, 8.0]])
    weights = np.array([[1.0, 3.0, 1.0, 1.0]])

    found = contrast(values, weights, slice(0, 2), slice(2, 4))

    assert found.rise == pytest.approx([7.5 - 2.5])
    assert found.variance == pytest.approx([1 / 4 + 1 / 2])


def test_a_side_without_intervals_is_infinitely_uncertain():
    weights = np.array([[0.0, 0.0, 1.0, 1.0]])

    found = contrast(np.ones((1, 4)), weights, slice(0, 2), slice(2, 4))

    assert np.isinf(found.variance[0])


@given(st.floats(-8, 8), st.floats(3, 500))
def test_a_score_is_as_improbable_as_its_t(t, freedom):
    score = normal_score(np.array([t]), np.array([freedom]))[0]

    assert stats.norm.sf(abs(score)) == pytest.approx(
        stats.t.sf(abs(t), freedom), rel=1e-6
    )


def test_a_t_beyond_all_tails_keeps_its_sign_and_stays_finite():
    score = normal_score(np.array([-1e9, 1e9]), np.array([1000.0, 1000.0]))

    assert score == pytest.approx([-37.5, 37.5])


def test_normal_placebos_stretch_nothing():
    stretch = tail_stretch(np.random.default_rng(1).standard_normal(50_000))

    assert stretch.undo(np.array([3.0]))[0] == pytest.approx(3.0, rel=0.06)


@pytest.mark.parametrize("freedom", [3, 5])
def test_heavy_tailed_placebos_take_back_what_the_tail_pretends(freedom):
    placebos = np.random.default_rng(2).standard_t(freedom, 50_000)
    at_one_in_a_thousand = stats.t.isf(0.001, freedom)
    worth = tail_stretch(placebos).undo(np.array([at_one_in_a_thousand]))[0]

    assert worth == pytest.approx(stats.norm.isf(0.001), rel=0.15)


def test_few_placebos_are_not_listened_to():
    assert tail_stretch(9.0 * np.ones(50)) == TailStretch()


@given(st.floats(0.5, 3), st.floats(0, 1), st.lists(st.floats(-40, 40), min_size=2))
def test_undoing_keeps_the_order_and_never_adds(base, slope, scores):
    ordered = np.sort(np.array(scores))
    worth = TailStretch(base, slope).undo(ordered)

    assert np.all(np.diff(worth) >= -1e-12)
    assert np.all(worth <= ordered + 1e-12)
