"""How the scores of this very deploy lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.engine.noise.shared.empirical_null import EmpiricalNull, empirical_null

SCORES = np.random.default_rng(1).standard_normal(2000)


def test_standard_normal_scores_stay_as_they_are():
    null = empirical_null(SCORES)

    assert null.corrected(SCORES) == pytest.approx(SCORES)


def test_scores_that_all_lie_higher_and_wider_come_back():
    """To 1.08 z + .15 / 1.85, of which 1.9 % lie above 2.33; 2.8 % is three errors."""
    moved = 1.0 + 2.0 * SCORES

    null = empirical_null(moved)

    assert null.shift == pytest.approx(0.85, abs=0.1)
    assert null.width == pytest.approx(2.0 / 1.08, rel=0.05)
    assert np.mean(null.corrected(moved) > 2.33) < 0.028


def test_a_tenth_that_rose_is_still_found():
    mixed = SCORES.copy()
    mixed[:200] += 6.0

    assert np.median(empirical_null(mixed).corrected(mixed)[:200]) > 4.0


@given(st.floats(-40.0, 40.0), st.floats(0.0, 5.0), st.floats(1.0, 5.0))
def test_a_score_never_grows_and_keeps_its_side(score, shift, width):
    (corrected,) = EmpiricalNull(shift, width).corrected(np.array([score]))

    assert corrected <= score
    assert corrected >= min(score, 0.0)
