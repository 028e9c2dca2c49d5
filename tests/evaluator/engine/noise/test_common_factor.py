"""The common factor of the queries of a server."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.noise.common_factor import (
    abrupt_step,
    column_medians,
    common_factor,
    loadings,
    without_factor,
)

BEFORE = 120


def shared(s: int, *, size: float, seed: int):
    """(s, 150) noise of spread 0.2 around a factor, and the factor."""
    rng = np.random.default_rng(seed)
    factor = size * np.sin(np.arange(150) / 15.0)
    return factor + 0.2 * rng.standard_normal((s, 150)), factor


def found_in(residuals, present=None):
    present = np.ones(residuals.shape, dtype=bool) if present is None else present
    factor, loading = factor_of(residuals, present)
    return factor, without_factor(residuals, present, loading, factor)


def factor_of(residuals, present):
    deviation = np.full((len(residuals), 1), 0.2)
    middle = column_medians(residuals, present.astype(float))
    queries = present.sum(axis=0).mean()
    middle -= np.median(middle[:BEFORE])
    step = abrupt_step(middle, BEFORE, BEFORE)
    factor = common_factor(middle, step, deviation, queries, after=BEFORE)
    return factor, loadings(residuals, present, deviation, factor, before=BEFORE)


def test_the_factor_of_many_queries_is_found_and_taken_out():
    residuals, truth = shared(200, size=0.3, seed=1)
    factor, rest = found_in(residuals)
    error = factor.values - factor.values.mean() - (truth - truth.mean())

    assert np.abs(error).max() < 0.08
    assert factor.reliability > 0.95
    assert rest[:, BEFORE:].std() == pytest.approx(0.2, rel=0.05)


def test_each_query_follows_the_factor_by_its_own_loading():
    residuals, truth = shared(200, size=0.5, seed=2)
    residuals[0] += 0.8 * truth
    _, rest = found_in(residuals)

    assert rest[0].std() == pytest.approx(0.2, rel=0.2)


def test_noise_is_not_a_factor():
    residuals, _ = shared(200, size=0.0, seed=3)
    factor, rest = found_in(residuals)

    assert factor.reliability < 0.3
    assert np.abs(rest - residuals).max() < 0.1


def test_an_abrupt_step_of_most_queries_is_not_part_of_the_factor():
    residuals, _ = shared(200, size=0.1, seed=4)
    residuals[:150, BEFORE:] += 0.5
    factor, rest = found_in(residuals)

    assert factor.step == pytest.approx(0.45, abs=0.1)
    assert rest[:150, BEFORE:].mean() - rest[:150, :BEFORE].mean() > 0.3


def test_the_step_of_a_minority_is_not_a_common_one():
    residuals, _ = shared(200, size=0.1, seed=5)
    residuals[:40, BEFORE:] += 0.5

    assert found_in(residuals)[0].step == 0.0


def test_a_factor_that_is_as_abrupt_elsewhere_has_no_step_at_the_deploy():
    residuals, _ = shared(200, size=0.0, seed=6)
    residuals += 0.3 * (np.arange(150) // 40 % 2)

    assert found_in(residuals)[0].step == 0.0


def test_the_loading_is_badly_known_where_the_factor_hardly_swung():
    doubts, present = [], np.ones((50, 150), dtype=bool)
    for size in (0.05, 0.5):
        residuals, _ = shared(50, size=size, seed=9)
        _, loading = factor_of(residuals, present)
        doubts.append(loading.variance[0])

    assert doubts[0] > 10 * doubts[1]


def test_absent_intervals_stay_absent():
    residuals, _ = shared(50, size=0.3, seed=7)
    present = np.random.default_rng(8).random(residuals.shape) > 0.2
    _, rest = found_in(np.where(present, residuals, 0.0), present)

    assert np.all(rest[~present] == 0.0)


@pytest.mark.parametrize("minutes", [3, 10])
def test_a_transient_of_all_queries_is_not_a_step(minutes):
    residuals, _ = shared(200, size=0.1, seed=4)
    residuals[:, BEFORE : BEFORE + minutes] += 1.5
    factor, rest = found_in(residuals)

    assert factor.step == 0.0
    assert np.median(rest[:, BEFORE + minutes :]) == pytest.approx(0.0, abs=0.05)
