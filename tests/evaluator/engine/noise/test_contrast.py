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
    skewness_corrected,
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


def test_two_runs_of_equal_weight_cancel_each_other_s_skewness():
    values, weights = np.zeros((1, 90)), np.ones((1, 90))

    equal, longer, empty = (
        contrast(values, weights, *runs).skewness
        for runs in (
            (slice(0, 30), slice(30, 60)),
            (slice(0, 60), slice(60, 90)),
            (slice(0, 30), slice(30, 30)),
        )
    )

    assert equal == pytest.approx([0.0])
    # Third moments 1/30² − 1/60² over variance (1/30 + 1/60) to the power 3/2.
    assert longer == pytest.approx([(1 / 900 - 1 / 3600) / 0.05**1.5])
    assert empty == [0.0]


@given(st.floats(0.0, 40.0), st.floats(0.0, 2.0))
def test_a_score_only_loses_by_its_skewness_and_keeps_its_order(score, skewness):
    pair = skewness_corrected(
        np.array([score, score + 0.1]), np.array([skewness, skewness])
    )

    assert pair[0] <= score
    assert pair[0] < pair[1]


@pytest.mark.parametrize("skewness", [0.0, -0.5])
def test_a_score_without_a_tail_upwards_stays(skewness):
    scores = np.array([-3.0, 0.0, 0.5, 4.0])

    assert skewness_corrected(scores, np.full(4, skewness)) == pytest.approx(scores)


def test_means_of_few_skewed_values_are_as_rare_as_their_scores_say():
    """200,000 differences of exponential means, 30 against 120; .001 ± .0002."""
    rng = np.random.default_rng(4)
    after = rng.gamma(30.0, 1.0 / 30.0, 200_000)
    before = rng.gamma(120.0, 1.0 / 120.0, 200_000)
    scores = (after - before) / np.sqrt(1 / 30 + 1 / 120)
    # An exponential distribution has skewness 2.
    imbalance = (1 / 30 - 1 / 120) / np.sqrt(1 / 30 + 1 / 120)

    normal = skewness_corrected(scores, np.full(scores.shape, 2.0 * imbalance))

    limit = stats.norm.isf(0.001)
    assert np.mean(scores > limit) > 0.002
    assert np.mean(normal > limit) == pytest.approx(0.001, abs=0.0003)
