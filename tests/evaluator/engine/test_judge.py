"""The steps in their order: who is stopped where, and with which numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.engine import judge
from evaluator.model import ContextSeries, Outcome, Settings, Stage, Surroundings
from tests.builders import DEPLOY_AT, counters, deploy, judged, noise
from tests.queries import batches

CLASSIC = Settings(engine="classic")


def _judge_one(means, **settings):
    (verdict,) = judged(
        [counters(means)], deploy(), Settings(engine="classic", **settings)
    )
    return verdict


def _step(factor, *, at=30, n=60, seed=1):
    means = 0.01 * noise(np.random.default_rng(seed), n)
    means[at:] *= factor
    return means


def test_a_clear_step_at_the_deploy_is_detected_with_its_effect():
    verdict = _judge_one(_step(1.5))

    assert (verdict.outcome, verdict.stage) == (Outcome.DETECTED, Stage.WELCH)
    assert verdict.effect.factor == pytest.approx(1.5, rel=0.1)
    # 40 calls a minute, each 5 ms slower.
    assert verdict.effect.extra_seconds_per_second == pytest.approx(
        0.005 * 40 / 60, rel=0.15
    )


def test_a_step_below_the_threshold_stops_at_the_prefilter():
    verdict = _judge_one(_step(1.1))

    assert (verdict.outcome, verdict.stage) == (Outcome.NO_REGRESSION, Stage.PREFILTER)
    assert verdict.change is None


def test_a_step_elsewhere_is_background_however_strong():
    verdict = _judge_one(_step(3.0, at=20))

    assert (verdict.outcome, verdict.stage) == (
        Outcome.BACKGROUND_CHANGE,
        Stage.TOLERANCE,
    )
    assert verdict.change.at == pytest.approx(DEPLOY_AT - 600)
    assert verdict.test is None


def test_too_little_data_is_shown_and_not_called_well():
    verdict = _judge_one(_step(2.0, at=8, n=16))

    assert (verdict.outcome, verdict.stage) == (
        Outcome.INSUFFICIENT_DATA,
        Stage.FLOORS,
    )
    assert "8 of 10 intervals before" in verdict.reason


def test_a_rise_that_is_only_noise_stops_at_welch():
    means = 0.01 * noise(np.random.default_rng(33), cv=1.0)

    verdict = _judge_one(means)

    assert (verdict.outcome, verdict.stage) == (Outcome.NO_REGRESSION, Stage.WELCH)
    assert verdict.test.p_nominal > 0.05


def test_samples_outside_the_windows_are_not_looked_at():
    means = np.concatenate([np.full(60, 9.9), _step(1.5), np.full(60, 9.9)])

    (long,) = judged([counters(means)], deploy(), CLASSIC)

    assert long.usable == 60
    assert long.outcome is Outcome.DETECTED


def test_the_order_of_the_series_changes_nothing():
    rng = np.random.default_rng(5)
    series = [
        counters(
            0.01 * noise(rng, n, cv=0.4) * np.where(np.arange(n) < n // 2, 1, 1.4),
            queryid=str(i),
        )
        for i, n in enumerate([60, 58, 60, 40, 60] * 6)
    ]
    shuffled = [series[i] for i in rng.permutation(len(series))]

    assert judged(shuffled, deploy(), CLASSIC) == judged(series, deploy(), CLASSIC)


def test_together_and_one_by_one_are_the_same_verdicts():
    rng = np.random.default_rng(6)
    series = [
        counters(0.01 * noise(rng, cv=0.5) * (1 + 0.3 * (i % 3)), queryid=f"{i:03}")
        for i in range(40)
    ]

    together = judged(series, deploy(), Settings(engine="classic", threshold=0.0))

    alone = [
        judged([one], deploy(), Settings(engine="classic", threshold=0.0))[0]
        for one in series
    ]
    assert list(together) == alone


def test_no_query_at_all_gives_no_verdict():
    assert judged([], deploy(), CLASSIC) == ()


def test_the_time_counter_standing_still_is_not_a_change():
    """A statement faster than the clock's tick: no time before, so no ratio."""
    verdict = _judge_one(np.zeros(60))

    assert verdict.outcome is Outcome.INSUFFICIENT_DATA


def test_the_squares_of_the_times_tell_which_intervals_to_trust():
    """Four hours in which calls take very different times every other half hour."""
    rng = np.random.default_rng(7)
    wide = np.where(np.arange(270) // 30 % 2, 0.5, 0.05)
    means = 0.01 * np.exp(wide * rng.standard_normal(270))
    means[240:] *= 1.25
    plain = counters(means, calls=100.0, at=DEPLOY_AT - 105 * 60)
    squares = 100.0 * means**2 * (1.0 + 100.0 * wide**2)
    told = replace(plain, squares=np.concatenate([[9.0], 9.0 + np.cumsum(squares)]))

    (blind,) = judged([plain], deploy(), Settings())
    (seeing,) = judged([told], deploy(), Settings())

    assert seeing.outcome is Outcome.DETECTED
    assert seeing.p_value is not None
    assert blind.p_value is not None
    assert seeing.p_value < 0.1 * blind.p_value


@pytest.mark.parametrize(("factor", "explained"), [(1.1, False), (1.5, True)])
def test_only_a_query_that_got_slower_is_explained(factor, explained):
    minutes = DEPLOY_AT + 60.0 * np.arange(-30.0, 30.0)
    busy = ContextSeries("cpu", "", minutes, np.array([0.2] * 30 + [0.9] * 30))

    (verdict,) = judged(
        [counters(_step(factor))], deploy(), CLASSIC, Surroundings(context=(busy,))
    )

    assert bool(verdict.causes) is explained


def test_verdicts_are_made_when_asked_for_and_are_the_same_each_time():
    series = [counters(_step(1.5), queryid=str(number)) for number in range(5)]

    verdicts = judge(batches(series), deploy(), CLASSIC)

    assert len(verdicts) == 5
    assert [one.key.queryid for one in verdicts] == list("01234")
    assert list(verdicts[1:3]) == [verdicts[1], verdicts[2]]
    assert verdicts[-1] == list(verdicts)[4]
    assert verdicts.detected() == 5
