"""Many queries, and several looks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.engine.stats.multiple_testing import q_values, spent
from evaluator.model import CALIBRATED
from tests import reference_calibrated as reference


@given(st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=30))
def test_q_values_are_the_levels_at_which_benjamini_and_hochberg_reject(p):
    assert q_values(np.array(p)) == pytest.approx(reference.q_values(p))


def test_a_small_p_among_many_queries_is_not_rare():
    p = np.concatenate([[0.001], np.linspace(0.01, 1.0, 999)])

    assert q_values(p)[0] == pytest.approx(1.0, abs=0.1)


def test_a_query_found_keeps_its_q_in_any_order():
    rng = np.random.default_rng(1)
    p = rng.random(50) ** 3
    order = rng.permutation(50)

    assert np.array_equal(q_values(p)[order], q_values(p[order]))


def test_an_early_look_asks_for_more():
    p = np.array([0.01])
    worth = [spent(p, look)[0] for look in range(len(CALIBRATED.looks))]

    assert worth == sorted(worth, reverse=True)
    assert worth[0] > 0.5
    assert worth[-1] == pytest.approx(0.01 * 0.05 / 0.036)


def test_what_is_spent_never_exceeds_one():
    assert spent(np.array([1.0, 0.5]), 0) == pytest.approx([1.0, 1.0])
