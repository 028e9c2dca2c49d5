"""What a count tells about its rate; tables of Clopper-Pearson and Garwood hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.engine.stats.intervals import count_interval, dispersion, share_interval


@pytest.mark.parametrize(
    ("hits", "trials", "interval"),
    [
        (0, 10, (0.0, 0.3085)),
        (1, 20, (0.0013, 0.2487)),
        (5, 100, (0.0164, 0.1128)),
        (10, 10, (0.6915, 1.0)),
    ],
)
def test_a_share_has_the_exact_interval(hits, trials, interval):
    assert share_interval(hits, trials) == pytest.approx(interval, abs=5e-5)


@pytest.mark.parametrize(
    ("count", "interval"),
    [(0, (0.0, 3.689)), (1, (0.0253, 5.572)), (10, (4.795, 18.39))],
)
def test_a_count_has_the_exact_interval(count, interval):
    assert count_interval(count) == pytest.approx(interval, rel=1e-3)


def test_events_in_pairs_are_worth_half_their_number():
    assert count_interval(10, dispersion=2.0) == pytest.approx(
        tuple(2.0 * end for end in count_interval(5))
    )


@given(st.integers(0, 40), st.floats(1.01, 5.0))
def test_clusters_make_an_interval_wider_around_the_count(count, clusters):
    low, high = count_interval(count, clusters)

    assert low <= count_interval(count)[0] <= count <= count_interval(count)[1] <= high


def test_counts_that_come_alone_are_not_dispersed():
    rng = np.random.default_rng(3)

    assert dispersion(rng.poisson(2.0, 4000).tolist()) == pytest.approx(1.0, abs=0.1)


def test_counts_that_come_five_at_a_time_are_dispersed_fivefold():
    rng = np.random.default_rng(4)

    assert dispersion((5 * rng.poisson(0.4, 4000)).tolist()) == pytest.approx(
        5.0, rel=0.1
    )


@pytest.mark.parametrize("counts", [[], [3], [0, 0, 0], [1, 1, 1]])
def test_too_little_or_too_even_counts_never_narrow_the_interval(counts):
    assert dispersion(counts, least=2.0) == 2.0
