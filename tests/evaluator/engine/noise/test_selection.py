"""What the whole rule is worth: the table, and the integral over it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from bench.selection_table import DRAWS, SEED, chances
from evaluator.engine.noise import selection as gate
from evaluator.engine.noise.selection import whole_rule_p
from evaluator.engine.stats.energy_split import best_splits

SHAPES = (
    len(gate.WINDOWS),
    len(gate.AFTERS),
    len(gate.BASELINES),
    len(gate.PHIS),
)


@pytest.mark.statistical
@pytest.mark.parametrize("place", [(0, 0, 0, 0), (1, 4, 2, 2), (0, 4, 1, 4)])
def test_the_seeded_program_makes_the_table_again(place):
    window = gate.WINDOWS[place[0]]
    row = chances(
        window,
        max(1, round(gate.AFTERS[place[1]] * window)),
        gate.BASELINES[place[2]] * window,
        gate.PHIS[place[3]],
        draws=DRAWS,
        rng=np.random.default_rng([SEED, int(np.ravel_multi_index(place, SHAPES))]),
    )

    # One split of all draws may fall elsewhere where another machine rounds otherwise.
    assert gate._table()[place] == pytest.approx(row, abs=2 / DRAWS)


def test_the_p_value_is_the_integral_of_chance_times_density():
    chance = gate._table()[1, 4, 2, 0]

    def below(z: float) -> float:
        return float(np.interp(z, gate.SCORES, chance) * stats.norm.pdf(z))

    for score in (0.3, 1.7, 4.2):
        expected, _ = integrate.quad(
            below, score, 12.0, points=list(gate.SCORES), epsabs=0, limit=500
        )
        p = whole_rule_p(
            np.array([score]),
            np.array([0.0]),
            window=30,
            after=30,
            baseline=120,
            tolerance=0.2,
        )
        assert p[0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.statistical
@pytest.mark.parametrize("score", [0.5, 1.0, 1.6])
def test_the_rule_without_a_change_fires_as_often_as_it_says(score):
    """40,000 series of independent noise; the band is four standard errors."""
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((40_000, 150))
    rise = noise[:, 120:].mean(axis=1) - noise[:, :120].mean(axis=1)
    splits, _ = best_splits(noise[:, 90:])
    near = np.abs(splits - 30) <= 6
    fired = np.mean(near & (rise / np.sqrt(1 / 30 + 1 / 120) >= score))

    p = whole_rule_p(
        np.array([score]),
        np.array([0.0]),
        window=30,
        after=30,
        baseline=120,
        tolerance=0.2,
    )[0]

    assert fired == pytest.approx(p, abs=4 * np.sqrt(p / 40_000) + 0.002)


def test_larger_scores_are_worth_more_to_the_far_tail():
    scores = np.linspace(0.01, 37.0, 400)
    p = whole_rule_p(
        scores,
        np.full(400, 0.4),
        window=45,
        after=20,
        baseline=100,
        tolerance=0.2,
    )

    assert np.all(np.diff(p) < 0)
    assert p[-1] > 0


def test_a_wider_tolerance_than_the_table_s_counts_the_split_as_certain():
    p = whole_rule_p(
        np.array([1.0, -1.0]),
        np.zeros(2),
        window=10,
        after=10,
        baseline=10,
        tolerance=0.4,
    )

    assert p == pytest.approx([stats.norm.sf(1.0), 1.0])
