"""The calibrated rule as a whole: against its slow twin, and against its promises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.measures import Shape, looks, many_queries, rates
from bench.noise import INDEPENDENT, NAMED, UNNAMED, autoregression, fixed_phi
from evaluator.engine.noise.model import assess
from evaluator.model import Assessment, Floats, Panel
from tests import reference_calibrated as reference


def panel(means: Floats, calls: Floats, *, before: int, window: int) -> Panel:
    """One-minute intervals; the deploy is at time 0."""
    t = means.shape[1]
    starts = 60.0 * (np.arange(t, dtype=np.float64) - before)
    return Panel(
        starts=starts,
        ends=starts + 60.0,
        means=means,
        calls=calls,
        before=before,
        after=before,
        window=window,
    )


def judged(one: Panel):
    length = 60.0 * one.window
    return assess(one, at=0.0, window=length, tolerance=0.2 * length)


def noisy(s: int, *, before: int, window: int, seed: int, missing: float = 0.05):
    """Autocorrelated queries with a common factor, with absent intervals; some rise."""
    rng = np.random.default_rng(seed)
    t = before + window
    own = 0.3 * autoregression(rng, rng.choice([0.0, 0.5], s), s, t)
    shared = 0.2 * autoregression(rng, 0.9, 1, t) * rng.uniform(0.5, 1.5, (s, 1))
    calls = rng.integers(5, 500, (s, t)).astype(float)
    few = rng.standard_normal((s, t)) / np.sqrt(calls)
    means = 0.01 * np.exp(own + shared + few)
    means[: max(1, s // 5), before:] *= 1.6
    calls[rng.random((s, t)) < missing] = 0.0
    return panel(np.where(calls > 0, means, 0.0), calls, before=before, window=window)


def queries_of(one: Panel) -> list[reference.Query]:
    return [
        [(m, c) if c else None for m, c in zip(means, calls, strict=True)]
        for means, calls in zip(one.means, one.calls, strict=True)
    ]


def assert_same_scores(found: Assessment, scores: list[float]) -> None:
    """But of what a slope explains, which has a slow twin of its own."""
    rows = np.flatnonzero(~found.slope)
    assert rows.size > 0.8 * len(scores)
    assert found.score[rows] == pytest.approx(
        np.array(scores)[rows], rel=1e-7, abs=1e-9
    )


@pytest.mark.parametrize(
    ("s", "before", "window"),
    [(3, 20, 20), (3, 80, 20), (24, 20, 20), (40, 96, 12)],
    ids=["alone, short", "alone, long", "family, short", "family, long"],
)
def test_the_batched_rule_agrees_with_its_definition(s, before, window):
    one = noisy(s, before=before, window=window, seed=s + before)
    at = reference.Deployed(before, window, before + window)
    scores, splits = reference.scores(queries_of(one), at)

    found = judged(one)

    assert_same_scores(found, scores)
    expected = one.starts[splits]
    assert list(found.split_at[~found.slope]) == list(expected[~found.slope])
    assert found.long_history is at.long


@pytest.mark.parametrize("before", [12, 48], ids=["short", "long"])
@pytest.mark.parametrize("share", [0.3, 1.0], ids=["some", "all"])
def test_after_a_start_up_with_swollen_noise_it_does_so_too(before, share):
    one = noisy(30, before=before, window=12, seed=13)
    rng = np.random.default_rng(14)
    means = one.means.copy()
    slow = rng.random((30, 1)) < share
    means[:, before : before + 2] *= np.where(slow, 6.0, 1.0)
    means[10:20, before:] *= np.exp(rng.standard_normal((10, 12)))
    one = replace(one, means=means)
    at = reference.Deployed(before, 12, before + 12)
    scores, splits = reference.scores(queries_of(one), at)

    found = judged(one)

    assert_same_scores(found, scores)
    expected = one.starts[splits]
    assert list(found.split_at[~found.slope]) == list(expected[~found.slope])
    assert found.transient.any()


def test_with_the_spread_known_it_does_so_too():
    one = noisy(40, before=96, window=12, seed=11)
    rng = np.random.default_rng(12)
    wide = np.where(np.arange(108) // 12 % 2, 0.1, 3.0)
    z = rng.standard_normal(one.means.shape)
    means = one.means * np.exp(wide * z / np.sqrt(np.maximum(one.calls, 1.0)))
    dispersion = (one.calls - 1.0) * (means * wide) ** 2
    dispersion[(one.calls < 2) | (rng.random(dispersion.shape) < 0.05)] = np.nan
    dispersion[3] = np.nan
    one = replace(one, means=means, dispersion=dispersion)
    told = [[None if np.isnan(s) else s for s in row] for row in dispersion]
    at = reference.Deployed(96, 12, 108)
    scores, splits = reference.scores(queries_of(one), at, told)

    found, blind = judged(one), judged(replace(one, dispersion=None))

    assert_same_scores(found, scores)
    expected = one.starts[splits]
    assert list(found.split_at[~found.slope]) == list(expected[~found.slope])
    assert np.mean(found.score != blind.score) > 0.5


def test_a_score_counts_only_if_the_split_is_near_and_the_query_slower():
    found = judged(noisy(60, before=120, window=30, seed=5))
    gate = found.near & (found.score > 0)

    assert 0 < gate.sum() < 60
    assert np.all(found.p_value[~gate] == 1.0)
    assert np.all(found.p_value[gate] < 1.0)


def test_the_unit_of_time_does_not_matter():
    one = noisy(25, before=120, window=30, seed=6)
    in_milliseconds = replace(one, means=1000.0 * one.means)

    assert judged(in_milliseconds).p_value == pytest.approx(judged(one).p_value)


def test_a_query_that_never_varies_is_not_a_finding_and_a_jump_of_it_is_one():
    means = np.full((2, 60), 0.01)
    means[1, 30:] = 0.02
    found = judged(panel(means, np.full((2, 60), 50.0), before=30, window=30))

    assert found.p_value[0] == 1.0
    assert found.p_value[1] < 1e-9


def test_what_all_queries_do_slowly_is_a_common_factor_and_not_a_finding():
    rng = np.random.default_rng(7)
    factor = np.exp(0.4 * np.sin(np.arange(270) / 60.0))
    means = 0.01 * factor * np.exp(0.1 * rng.standard_normal((100, 270)))
    found = judged(panel(means, np.full((100, 270), 90.0), before=240, window=30))

    assert found.common_rise == 1.0
    assert found.p_value.min() > 1e-4


def test_what_all_queries_do_abruptly_at_the_deploy_is_found_and_named():
    rng = np.random.default_rng(8)
    means = 0.01 * np.exp(0.1 * rng.standard_normal((100, 270)))
    means[:, 240:] *= 1.5
    found = judged(panel(means, np.full((100, 270), 90.0), before=240, window=30))

    assert found.common_rise == pytest.approx(1.5, rel=0.05)
    assert np.mean(found.p_value < 1e-6) > 0.9


def test_ten_slower_queries_of_a_hundred_do_not_pass_for_a_common_factor():
    rng = np.random.default_rng(9)
    means = 0.01 * np.exp(0.2 * rng.standard_normal((100, 270)))
    means[:10, 240:] *= 1.5
    found = judged(panel(means, np.full((100, 270), 90.0), before=240, window=30))

    assert found.common_rise == 1.0
    assert np.sum(found.p_value[:10] < 1e-6) >= 9
    assert np.median(found.score[10:]) == pytest.approx(0.0, abs=0.4)


def test_intervals_with_few_calls_count_less():
    rng = np.random.default_rng(10)
    calls = np.where(np.arange(270) % 2, 400.0, 4.0) * np.ones((200, 1))
    noise = rng.standard_normal((200, 270)) * 2.0 / np.sqrt(calls)
    means = 0.01 * np.exp(noise)
    means[:, 240:] *= 1.25
    weighted = judged(panel(means, calls, before=240, window=30))
    same = judged(panel(means, np.full_like(calls, 90.0), before=240, window=30))

    assert np.median(weighted.score) > 2.0 * np.median(same.score)


@pytest.mark.statistical
@pytest.mark.parametrize("phi", [0.0, 0.5])
@pytest.mark.parametrize(
    "shape", [Shape(30, 240), Shape(30, 30)], ids=["long history", "no history"]
)
def test_a_quiet_query_is_a_finding_as_often_as_promised(phi, shape):
    """3,000 series: at 5 % the share lies in 3.5 to 6.5 % with probability 0.9998."""
    found = rates(fixed_phi(phi), cv=0.3, shape=shape, draws=3000, seed=[1])

    assert 0.035 < found.at_05 < 0.065
    assert found.at_001 <= 0.004


@pytest.mark.statistical
def test_the_power_is_that_of_the_classic_rule_or_more():
    found = rates(INDEPENDENT, cv=0.3, shape=Shape(), draws=1500, seed=[2], factor=1.3)

    assert found.at_05 > 0.70
    assert found.at_05 > found.classic


@pytest.mark.statistical
def test_a_shift_ten_minutes_before_the_deploy_is_not_blamed_on_it():
    """True share 0.3 % at most: 15 of 1,500 or more has probability below 0.0001."""
    found = rates(
        INDEPENDENT,
        cv=0.15,
        shape=Shape(),
        draws=1500,
        seed=[3],
        factor=1.5,
        early=10,
    )

    assert found.at_05 < 0.01


@pytest.mark.statistical
@pytest.mark.parametrize("kind", NAMED)
def test_a_deploy_of_many_queries_raises_few_false_alarms(kind):
    """Two deploys of 500 queries; four false alarms are twice what is promised."""
    found = many_queries(NAMED[kind], deploys=2, seed=40, queries=500)

    assert found["alert"].false_alarms <= 2.0
    assert found["alert"].false_alarms < found["classic"].false_alarms


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["Pareto tails", "two plans"])
def test_skewed_noise_raises_few_false_alarms_either(kind):
    """About 0.7 a deploy: more than 8 in four deploys have probability 0.002."""
    found = many_queries(UNNAMED[kind], deploys=4, seed=60)

    assert found["alert"].false_alarms <= 2.0


@pytest.mark.statistical
def test_five_looks_together_keep_the_promise_and_save_time():
    """1,500 series: at 5 % at most 6.9 % with probability 0.9995."""
    quiet = looks(INDEPENDENT, cv=0.3, factor=1.0, draws=1500, seed=4)
    slower = looks(INDEPENDENT, cv=0.3, factor=1.5, draws=500, seed=4)

    assert quiet.found < 0.069
    assert slower.found >= 0.90
    assert slower.minute <= 18.0
