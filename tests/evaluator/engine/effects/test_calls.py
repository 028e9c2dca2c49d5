"""Call rates in stretches, traffic taken out, and tested, against slow twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.call_floods import own_noise
from evaluator.engine.effects.calls.assessment import assess_rates, interval_of
from evaluator.engine.effects.calls.stretches import CallRates, call_rates
from evaluator.engine.effects.calls.traffic import without_traffic
from evaluator.engine.noise.selection import whole_rule_p
from evaluator.model import Settings
from tests import reference_rates as slow
from tests.builders import DEPLOY_AT, Counters, key
from tests.queries import batches

METHOD = Settings()
BEFORE, AFTER = 240, 30
T = BEFORE + AFTER
# Which of five statements are asked for, or are the reference.
EVERY = np.ones(5, dtype=bool)


def panel(logs, before=BEFORE):
    return CallRates(
        starts=60.0 * np.arange(-before, logs.shape[1] - before, dtype=np.float64),
        logs=logs,
        present=np.ones(logs.shape, dtype=bool),
        before=before,
        window=AFTER,
    )


def noisy(s, *, phi=0.3, seed=3, t=T):
    return np.log(own_noise(0.2, phi)(np.random.default_rng(seed), s, t))


@pytest.mark.parametrize("step", [15.0, 60.0, 90.0])
def test_a_slow_twin_counts_the_same_calls_in_each_stretch(step):
    """Scrapes 5 s off the deploy, of which every seventh did not store a statement, a
    reset, and a gap of six minutes."""
    rng = np.random.default_rng(4)
    count = round(2 * 1800 / step)
    times = DEPLOY_AT - 1800 + 5 + step * np.arange(count)
    times = times[(times < DEPLOY_AT + 600) | (times > DEPLOY_AT + 960)]
    rows = []
    for row in range(3):
        calls = 1000.0 + np.cumsum(rng.poisson(3.0, times.size))
        if row == 1:
            calls[times.size // 3 :] -= calls[times.size // 3]
        kept = np.arange(times.size) % 7 != row + 3
        one = Counters(key(str(row)), times[kept], calls[kept], 0.01 * calls[kept])
        rows.append(one)
    (batch,) = batches(rows)

    found = call_rates(
        batch, np.arange(3), DEPLOY_AT, DEPLOY_AT + 1800, replace(METHOD, history=1800)
    )

    width = max(60.0, step)
    stretches = range(-found.before, found.starts.size - found.before)
    for row in range(3):
        expected = slow.calls_in_stretches(
            batch, row, DEPLOY_AT, stretches, width, METHOD.max_gap
        )
        for stretch, (counted, observed) in enumerate(expected):
            assert found.present[row, stretch] == (observed >= width / 2)
            if observed >= width / 2:
                per_second = (counted + 0.5) / observed
                assert found.logs[row, stretch] == pytest.approx(np.log(per_second))


@pytest.mark.parametrize("rise", [0.2, 0.4])
def test_a_slow_twin_finds_the_same_p_values(rise):
    logs = noisy(5)
    logs[:, BEFORE:] += rise

    p, _ = assess_rates(panel(logs), EVERY, EVERY, 360.0, 1800.0)

    for row, found in zip(logs, p, strict=True):
        score, phi = slow.rate_score(row.tolist(), BEFORE, AFTER, 4 * AFTER)
        (expected,) = whole_rule_p(
            np.array([score]),
            np.array([phi]),
            window=AFTER,
            after=AFTER,
            baseline=4 * AFTER,
            tolerance=0.2,
        )
        assert found == pytest.approx(expected, rel=1e-6)


def test_what_was_hardly_observed_is_not_tested():
    logs = noisy(5)
    logs[:, BEFORE:] += 1.0
    rates = panel(logs)
    present = rates.present.copy()
    present[0, BEFORE + 10 :] = False

    p, _ = assess_rates(
        replace(rates, present=present, logs=np.where(present, logs, 0.0)),
        *(EVERY, EVERY, 360.0, 1800.0),
    )

    assert p[0] == 1.0
    assert (p[1:] < 1e-4).all()


def test_what_all_statements_do_is_taken_out_in_proportion():
    common = np.cumsum(np.random.default_rng(5).normal(0.0, 0.1, T))
    loadings = np.linspace(0.5, 1.5, 40)[:, None]
    own = 0.5 * noisy(40, phi=0.0)

    found = without_traffic(panel(own + loadings * common), np.ones(40, dtype=bool))

    rest = found.values - np.median(found.values[:, :BEFORE], axis=1)[:, None]
    expected = own - np.median(own[:, :BEFORE], axis=1)[:, None]
    assert np.abs(rest - expected).mean() < 0.1 * np.abs(common).mean()


def test_a_job_that_does_not_follow_traffic_keeps_its_own():
    common = np.cumsum(np.random.default_rng(6).normal(0.0, 0.1, T))
    logs = 0.5 * noisy(40, phi=0.0)
    logs[1:] += common

    found = without_traffic(panel(logs), np.ones(40, dtype=bool))

    still = found.values[0] - (logs[0] - np.median(logs[0, :BEFORE]))
    assert np.abs(still).mean() < 0.1 * np.abs(common).mean()


def test_few_statements_have_no_traffic():
    logs = noisy(9) + np.linspace(0.0, 1.0, T)

    found = without_traffic(panel(logs), np.ones(9, dtype=bool))

    assert not found.traffic.any()
    assert not found.loading_variance.any()


def test_the_interval_of_a_factor_is_in_proportion():
    low, high = interval_of(np.array([2.0]), np.array([0.1]))

    assert np.log(high / 2.0) == pytest.approx(0.196)
    assert np.log(2.0 / low) == pytest.approx(0.196)


@pytest.mark.statistical
def test_an_interval_holds_the_factor_as_often_as_it_says():
    """Of 2,000 factors 95 % lie within; below 0.92 has a chance of 1e-8 at 0.95."""
    logs = noisy(2000, seed=7)
    every, none = (np.full(2000, flag) for flag in (True, False))
    p, error = assess_rates(panel(logs), every, none, 360.0, 1800.0)
    recent = logs[:, BEFORE - AFTER : BEFORE].mean(axis=1)
    factor = np.exp(logs[:, BEFORE:].mean(axis=1) - recent)

    low, high = interval_of(factor, error)

    assert p.size == 2000
    assert 0.92 <= np.mean((low <= 1.0) & (high >= 1.0)) <= 0.98
