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


def server(seed: int, *, queries: int = 120) -> Batch:
    """Four hours of a few groups of queries; some rise at the deploy."""
    rng = np.random.default_rng(seed)
    times = AT + 60.0 * np.arange(-241, 31, dtype=np.float64)
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
    judged = reference_of(prepared) | prepared.risen
    others = prepared.rows[~judged]

    whole = judge([batch], DEPLOY, SETTINGS)
    part = judge([without_history(batch, others)], DEPLOY, SETTINGS)

    assert 20 < others.size < 70
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

    known = [(v.factor, v.significance) for v in verdicts if v.significance is not None]
    quiet = [one for factor, one in known if factor is not None and factor < 1.2]
    risen = [one for factor, one in known if factor is not None and factor >= 1.2]
    assert {one.p_value for one in quiet} == {1.0}
    smallest = min(one.p_value for one in risen)
    # Over all that passed the floors.
    assert min(one.q_value for one in risen) <= smallest * len(verdicts)


def test_what_moves_together_is_there_for_a_reader():
    shared = judge([server(11)], DEPLOY, SETTINGS).shared()

    *groups, everybody = shared
    assert everybody.factor.common
    assert len(groups) >= 2
    for one in groups:
        assert len(one.members) == len(one.factor.loadings) >= 5
        assert one.factor.jump.low <= one.factor.jump.size <= one.factor.jump.high
