"""What a p-value can at most say against "nothing changed"."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.stats.bayes_factor import no_change_bound


@pytest.mark.parametrize(
    ("prior", "p", "bound"),
    [
        (0.5, 0.05, 0.289),
        (0.5, 0.001, 0.018),
        (0.1, 0.01, 0.530),
        (0.01, 0.05, 0.976),
        (0.01, 1e-5, 0.030),
    ],
)
def test_the_bound_is_that_of_sellke_bayarri_and_berger(prior, p, bound):
    assert no_change_bound(np.array([p]), prior)[0] == pytest.approx(bound, abs=0.0006)


def test_a_p_value_that_says_nothing_leaves_the_prior():
    assert no_change_bound(np.array([0.9]), 0.05)[0] == pytest.approx(0.95)


def test_a_p_value_of_zero_leaves_no_doubt():
    assert no_change_bound(np.array([0.0]), 0.05)[0] == 0.0


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1])
def test_a_prior_that_is_already_certain_is_refused(prior):
    with pytest.raises(ValueError, match="prior must lie between 0 and 1"):
        no_change_bound(np.array([0.01]), prior)
