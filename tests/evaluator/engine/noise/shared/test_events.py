"""What happened to the server at another time than the deploy."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.noise.shared.events import events_elsewhere

NEAR = np.abs(np.arange(60) - 30) <= 6


def found(values):
    s = len(values)
    return events_elsewhere(values, np.ones(s), NEAR, np.ones(s, dtype=bool))


def noise(s=400, seed=1):
    return np.random.default_rng(seed).standard_normal((s, 60))


@pytest.mark.parametrize("at", [15, 20, 40, 45])
def test_a_backup_near_the_deploy_takes_whom_it_slowed(at):
    values = noise()
    values[:160, at:] += 1.5

    events = found(values)

    assert np.mean(np.abs(events.place[:160] - at) <= 1) > 0.95
    assert events.moved[:160].mean() > 0.9
    assert events.moved[160:].mean() < 0.2


def test_what_rose_at_the_deploy_stays_its_own():
    values = noise()
    values[:160, 42:] += 1.5
    values[160:180, 30:] += 2.5

    assert np.mean(found(values).place[160:180] == -1) > 0.9


def test_a_change_at_the_deploy_is_not_an_event_elsewhere():
    values = noise()
    values[:160, 30:] += 1.5

    events = found(values)

    assert np.all(events.place == -1)
    assert not events.moved.any()


def test_noise_alone_makes_no_event():
    assert np.all(found(noise()).place == -1)


def test_too_few_intervals_tell_nothing():
    values = np.zeros((3, 6))

    events = events_elsewhere(
        values, np.ones(3), np.ones(6, dtype=bool), np.ones(3, dtype=bool)
    )

    assert np.all(events.place == -1)
