"""A verdict does not depend on whether the other queries' samples were read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.engine import judge
from evaluator.engine.prepare import reference
from evaluator.engine.prepare.prepared import prepare
from evaluator.engine.prepare.reference import reference_of
from evaluator.model import Batch, Deploy, Settings
from tests.builders import key

AT = 20_000.0
SETTINGS = Settings(window=1800.0)
DEPLOY = Deploy("d", AT)


def server(seed, *, queries=120):
    """Four hours of a few groups of queries; some rise at the deploy."""
    rng = np.random.default_rng(seed)
    times = np.linspace(AT - 241 * 60.0, AT + 30 * 60.0, 272)
    t = times.size - 1
    paths = 0.2 * np.cumsum(rng.standard_normal((3, t)), axis=1) / np.sqrt(20.0)
    means = np.exp(
        rng.normal(-5.0, 1.5, (queries, 1))
        + paths[np.arange(queries) % 3]
        + 0.3 * rng.standard_normal((queries, t))
    )
    means[::7, 241:] *= 1.7
    calls = np.full(means.shape, 100.0)
    columns = {"calls": calls, "seconds": calls * means}
    return Batch(
        tuple(key(f"{number:03}") for number in range(queries)),
        times,
        {
            name: np.concatenate([np.zeros((queries, 1)), added.cumsum(axis=1)], axis=1)
            for name, added in columns.items()
        },
    )


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(reference, "MOST", 50)


def without_history(batch: Batch, rows) -> Batch:
    """Nothing of those rows is known before the window."""
    old = batch.times < AT - SETTINGS.window - 60.0
    columns = {}
    for name, values in batch.columns.items():
        columns[name] = values.copy()
        columns[name][np.ix_(rows, old)] = np.nan
    return replace(batch, columns=columns)


@pytest.mark.parametrize("seed", range(4))
def test_the_history_of_what_is_not_judged_changes_no_bit(seed):
    batch = server(seed)
    prepared = prepare(batch, AT, AT + 1800.0, SETTINGS, history=4 * 3600.0)
    searched = prepared.risen | prepared.fell(SETTINGS.threshold)
    judged = reference_of(prepared) | searched
    others = prepared.rows[~judged]

    whole = judge([batch], DEPLOY, SETTINGS)
    part = judge([without_history(batch, others)], DEPLOY, SETTINGS)

    assert 15 < others.size < 70
    assert list(part) == list(whole)
    assert whole.detected() > 3


def test_the_reference_is_chosen_by_the_time_before_the_deploy():
    batch = server(9)
    prepared = prepare(batch, AT, AT + 1800.0, SETTINGS, history=4 * 3600.0)

    chosen = reference_of(prepared)

    seconds = prepared.before.seconds[prepared.rows]
    assert np.count_nonzero(chosen) == 50
    assert seconds[chosen].min() >= seconds[~chosen].max()


def test_what_did_not_rise_counts_as_one_in_the_family():
    verdicts = judge([server(10)], DEPLOY, SETTINGS)

    known = [
        (v.factor, v.significance)
        for v in verdicts
        if v.factor is not None and v.significance is not None
    ]
    quiet = [significance for factor, significance in known if factor < 1.2]
    assert {significance.p_value for significance in quiet} == {1.0}
    risen = [significance for factor, significance in known if factor >= 1.2]
    smallest = min(significance.p_value for significance in risen)
    # Over the means and the call rates of all that passed the floors.
    family = 2 * len(verdicts)
    assert min(significance.q_value for significance in risen) <= smallest * family
