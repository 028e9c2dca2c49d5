"""The wave that all queries of a server share."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.noise.common_factor import common_wave, without_wave
from evaluator.engine.noise.residuals import medians

BEFORE = 120


def shared(s: int, *, strength: float, seed: int):
    """(s, 150) noise of spread 0.2 around a wave, and the wave."""
    rng = np.random.default_rng(seed)
    wave = strength * np.sin(np.arange(150) / 15.0)
    return wave + 0.2 * rng.standard_normal((s, 150)), wave


def found_in(residuals, present=None):
    present = np.ones(residuals.shape, dtype=bool) if present is None else present
    spread = np.full((len(residuals), 1), 0.2)
    middle = medians(residuals.T, present.T)[:, 0]
    wave = common_wave(middle, present, spread, before=BEFORE, after=BEFORE)
    rest, _ = without_wave(residuals, present, spread, wave, before=BEFORE)
    return wave, rest


def test_the_wave_of_many_queries_is_found_and_taken_out():
    residuals, truth = shared(200, strength=0.3, seed=1)
    wave, rest = found_in(residuals)
    error = wave.values - wave.values.mean() - (truth - truth.mean())

    assert np.abs(error).max() < 0.08
    assert wave.reality > 0.95
    assert rest[:, BEFORE:].std() == pytest.approx(0.2, rel=0.05)


def test_each_query_follows_the_wave_in_its_own_strength():
    residuals, truth = shared(200, strength=0.5, seed=2)
    residuals[0] += 0.8 * truth
    _, rest = found_in(residuals)

    assert rest[0].std() == pytest.approx(0.2, rel=0.2)


def test_noise_is_no_wave():
    residuals, _ = shared(200, strength=0.0, seed=3)
    wave, rest = found_in(residuals)

    assert wave.reality < 0.3
    assert np.abs(rest - residuals).max() < 0.1


def test_an_abrupt_step_of_most_queries_is_not_part_of_the_wave():
    residuals, _ = shared(200, strength=0.1, seed=4)
    residuals[:150, BEFORE:] += 0.5
    wave, rest = found_in(residuals)

    assert wave.step == pytest.approx(0.45, abs=0.1)
    assert rest[:150, BEFORE:].mean() - rest[:150, :BEFORE].mean() > 0.3


def test_the_step_of_a_minority_is_not_a_common_one():
    residuals, _ = shared(200, strength=0.1, seed=5)
    residuals[:40, BEFORE:] += 0.5

    assert found_in(residuals)[0].step == 0.0


def test_a_wave_that_is_as_abrupt_elsewhere_has_no_step_at_the_deploy():
    residuals, _ = shared(200, strength=0.0, seed=6)
    residuals += 0.3 * (np.arange(150) // 40 % 2)

    assert found_in(residuals)[0].step == 0.0


def test_the_strength_is_badly_known_where_the_wave_hardly_swung():
    spread, present = np.full((50, 1), 0.2), np.ones((50, 150), dtype=bool)
    doubts = []
    for strength in (0.05, 0.5):
        residuals, _ = shared(50, strength=strength, seed=9)
        middle = medians(residuals.T, present.T)[:, 0]
        wave = common_wave(middle, present, spread, before=BEFORE, after=BEFORE)
        _, doubt = without_wave(residuals, present, spread, wave, before=BEFORE)
        doubts.append(doubt[0])

    assert doubts[0] > 10 * doubts[1]


def test_absent_intervals_stay_absent():
    residuals, _ = shared(50, strength=0.3, seed=7)
    present = np.random.default_rng(8).random(residuals.shape) > 0.2
    _, rest = found_in(np.where(present, residuals, 0.0), present)

    assert np.all(rest[~present] == 0.0)


@pytest.mark.parametrize("minutes", [3, 10])
def test_a_start_up_of_all_queries_is_no_step(minutes):
    residuals, _ = shared(200, strength=0.1, seed=4)
    residuals[:, BEFORE : BEFORE + minutes] += 1.5
    wave, rest = found_in(residuals)

    assert wave.step == 0.0
    assert np.median(rest[:, BEFORE + minutes :]) == pytest.approx(0.0, abs=0.05)
