"""Factors of groups: how many, which way they are turned, who follows them."""

from __future__ import annotations

import numpy as np
import pytest

from bench.noise import autoregression
from evaluator.engine.noise.shared.factors import learn_factors
from evaluator.engine.noise.shared.loadings import posterior, regress
from evaluator.engine.noise.shared.rank import (
    GUARD,
    right_vectors,
    shared_rank,
    time_blocks,
)
from evaluator.engine.noise.shared.rotation import varimax


def points(groups: int, *, s: int = 200, k: int = 48, seed: int = 1):
    """(k, s) of queries of which each follows one of *groups* factors; its group."""
    rng = np.random.default_rng(seed)
    member = np.arange(s) % max(groups, 1)
    values = 0.4 * rng.standard_normal((k, s))
    if groups:
        values += rng.standard_normal((k, groups))[:, member]
    return values - values.mean(axis=0), member


def slow_errors(values, rank):
    """The error of bi-cross-validation, query by query."""
    total = 0.0
    for block, rest in time_blocks(len(values)):
        level = values[rest].mean(axis=0)
        _, _, right = np.linalg.svd(values[rest] - level, full_matrices=False)
        v = right[:rank].T
        for x in values[block] - level:
            for i in range(len(x)):
                free = 1.0 - v[i] @ v[i]
                left = x[i] - v[i] @ (v.T @ x)
                total += (left / free if free > 0.3 else x[i]) ** 2
    return total


def test_the_blocks_hold_every_point_and_keep_their_distance():
    blocks = time_blocks(48)

    inside = [np.arange(block.start, block.stop) for block, _ in blocks]
    assert list(np.concatenate(inside)) == list(range(48))
    for own, (_, rest) in zip(inside, blocks, strict=True):
        assert np.abs(own[:, None] - rest).min() > GUARD


@pytest.mark.parametrize("groups", [0, 1, 3, 8])
def test_as_many_factors_are_found_as_there_are(groups):
    assert shared_rank(points(groups)[0]) == groups


def test_the_rank_is_that_of_the_definition():
    values, _ = points(3, s=60, seed=4)
    errors = [slow_errors(values, rank) for rank in range(8)]

    rank = shared_rank(values)

    # The smallest that leaves hardly more than the best.
    good = [r for r, e in enumerate(errors) if e <= min(errors) + 0.004 * errors[0]]
    assert rank == good[0] == 3


def test_slow_noise_of_single_queries_is_not_a_factor():
    own = autoregression(np.random.default_rng(3), 0.6, 300, 48).T

    assert shared_rank(own - own.mean(axis=0)) == 0


def test_varimax_turns_without_stretching_and_finds_simple_loadings():
    rng = np.random.default_rng(5)
    simple = np.zeros((60, 3))
    simple[np.arange(60), np.arange(60) % 3] = rng.uniform(0.5, 1.0, 60)
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))

    found = varimax(simple @ turn)

    assert found @ found.T == pytest.approx(simple @ simple.T)
    assert np.sum(np.abs(found) > 1e-3, axis=1).max() == 1


def test_each_query_follows_the_factor_of_its_group_and_no_other():
    values, member = points(4)

    found = learn_factors(values, np.ones(200, dtype=bool))

    assert found is not None
    group_of = [np.bincount(member[rows]).argmax() for rows in found.members.T]
    assert sorted(group_of) == [0, 1, 2, 3]
    right = member[:, None] == np.array(group_of)
    assert np.mean(found.members == right) > 0.98
    assert np.abs(found.loadings[~right]).mean() < 0.02
    assert found.loadings[right].mean() == pytest.approx(1.0, abs=0.2)


def test_queries_outside_the_reference_change_no_factor():
    values, _ = points(4)
    reference = np.arange(200) < 150
    other = values.copy()
    other[:, 150:] = np.random.default_rng(6).standard_normal((48, 50))

    one, two = (learn_factors(v, reference) for v in (values, other))

    assert one is not None
    assert two is not None
    assert two.members[:150].tolist() == one.members[:150].tolist()
    assert two.loadings[:150] == pytest.approx(one.loadings[:150], abs=0.1)


def test_without_factors_there_are_none():
    assert learn_factors(points(0)[0], np.ones(200, dtype=bool)) is None


def test_the_loadings_of_a_block_have_not_seen_it():
    values, _ = points(2)
    paths = right_vectors(values.T, 2).T * np.sqrt(48)
    spoiled = values.copy()
    spoiled[time_blocks(48)[0][0]] = 99.0

    one, two = (regress(v, paths) for v in (values, spoiled))

    assert two.without[0] == pytest.approx(one.without[0])
    assert np.abs(two.loadings - one.loadings).max() > 1.0


def test_the_jackknife_knows_the_error_of_a_loading():
    """500 queries of one factor: the errors over the variance average about 1."""
    rng = np.random.default_rng(7)
    path = rng.standard_normal((1, 48))
    values = (path * 0.5).T + rng.standard_normal((48, 500))
    found = regress(values, path)

    square = np.mean((found.loadings - 0.5) ** 2)

    assert np.median(found.variance) == pytest.approx(square, rel=0.35)


def test_a_sure_loading_is_believed_and_a_doubtful_one_hardly():
    rng = np.random.default_rng(8)
    path = rng.standard_normal((1, 48))
    follow = np.where(np.arange(300) < 100, 1.0, 0.0)
    found = regress(path.T * follow + 0.5 * rng.standard_normal((48, 300)), path)

    share, left = posterior(found, found.sure)

    assert share[:100].mean() > 0.9
    assert share[100:].mean() < 0.15
    assert left[:100].mean() == pytest.approx(found.variance[:100].mean(), rel=0.2)
