"""The common factor as the mode over the queries."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.noise.shared.mode import WIDTH, column_modes


def slow_mode(values, present, deviation):
    """The highest of many points, by the definition."""
    grid = np.linspace(-4.0, 4.0, 4001)
    height = np.zeros(grid.size)
    for value, there, s in zip(values, present, deviation, strict=True):
        if there:
            height += np.exp(-((grid - value) ** 2) / (2.0 * (WIDTH * s) ** 2))
    return grid[np.argmax(height)]


def test_it_is_where_the_density_is_highest():
    rng = np.random.default_rng(1)
    deviation = rng.uniform(0.1, 0.6, 300)
    values = deviation[:, None] * rng.standard_normal((300, 8)) + rng.normal(size=8)
    present = rng.random(values.shape) < 0.9

    modes = column_modes(values, present, deviation)

    expected = [slow_mode(values[:, t], present[:, t], deviation) for t in range(8)]
    assert modes == pytest.approx(expected, abs=0.01)


def test_it_stays_where_most_are_when_four_in_ten_move():
    rng = np.random.default_rng(2)
    values = 0.2 * rng.standard_normal((500, 50))
    values[:200] += 0.8

    modes = column_modes(values, np.ones(values.shape, bool), np.full(500, 0.2))

    assert np.abs(modes).max() < 0.1
    assert np.median(values, axis=0).min() > 0.1


def test_without_any_query_it_is_nothing():
    values = np.ones((5, 2))
    present = np.array([[True, False]] * 5)

    assert list(column_modes(values, present, np.ones(5))) == [1.0, 0.0]
