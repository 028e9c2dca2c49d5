"""Where factors stand in every interval, and what is left of the queries."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.noise.shared.factors import Factors
from evaluator.engine.noise.shared.paths import factor_paths, without_factors

BEFORE, AFTER, S = 60, 60, 40


def scene(seed: int = 1):
    """One factor that all follow; (s, 90) values and (90,) the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(90)
    loadings = rng.uniform(0.5, 1.5, (S, 1))
    values = loadings * truth + 0.3 * rng.standard_normal((S, 90))
    return values, truth, factors(loadings)


def factors(loadings):
    return Factors(
        loadings,
        np.stack([loadings] * 6),
        np.full(loadings.shape, 0.01),
        np.ones(loadings.shape, dtype=bool),
    )


def paths_of(values, known, present=None):
    there = np.ones(values.shape, dtype=bool) if present is None else present
    return factor_paths(values, there, known, before=BEFORE, after=AFTER)


def test_the_path_is_that_of_the_factor():
    values, truth, known = scene()

    assert paths_of(values, known).values[0] == pytest.approx(truth, abs=0.2)


def test_it_is_weighted_least_squares_interval_by_interval():
    """Far from outliers, with equal noise, that is the plain regression."""
    values, _, known = scene()
    flat = np.sign(values - values.mean()) * 0.0 + values
    loadings = known.loadings[:, 0]

    path = paths_of(flat, known).values[0]

    plain = [loadings @ column / (loadings @ loadings) for column in values.T]
    assert path == pytest.approx(plain, abs=0.15)


def test_outliers_and_what_stays_out_after_the_deploy_do_not_draw_it():
    values, truth, known = scene()
    values[:8, AFTER:] += 3.0
    values[20, 10] = 9.0

    assert paths_of(values, known).values[0] == pytest.approx(truth, abs=0.25)


def test_what_is_left_is_what_the_others_do_not_predict():
    """Over 1 − leverage the rest is as large as the noise, which small groups hide."""
    rng = np.random.default_rng(3)
    loadings = np.ones((5, 1))
    values = rng.standard_normal(2000) + rng.standard_normal((5, 2000))
    present = np.ones(values.shape, dtype=bool)
    known = factors(loadings)
    paths = factor_paths(values, present, known, before=1000, after=1000)
    rest = values.copy()

    without_factors(rest, np.ones(5), known, paths, paths.values, np.full(2000, -1))

    # One value around the mean of the four others: variance 1 + 1/4.
    assert rest.std() == pytest.approx(np.sqrt(1.25), rel=0.06)


def test_absent_queries_say_nothing():
    values, _, known = scene()
    present = np.ones(values.shape, dtype=bool)
    present[:10] = False
    spoiled = values.copy()
    spoiled[:10] = 5.0

    one, two = (paths_of(v * present, known, present) for v in (values, spoiled))

    assert two.values == pytest.approx(one.values)
