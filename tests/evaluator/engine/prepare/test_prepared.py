"""A whole batch at once is what its queries are one by one, with every irregularity."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.prepare.prepared import prepare
from evaluator.model import Settings
from tests import reference
from tests.builders import DEPLOY_AT, Counters, key
from tests.queries import batches

SETTINGS = Settings(window=1800.0, min_samples=5, min_calls=50, max_gap=150.0)
START, END = DEPLOY_AT - 1800.0, DEPLOY_AT + 1800.0


def irregular(rng, number):
    """A query with missed scrapes, resets, gaps, idle intervals and renewed entries."""
    n = 61
    times = DEPLOY_AT + 60.0 * np.arange(-30, 31) + 7.0
    calls = np.cumsum(rng.integers(0, 40, n) * (rng.random(n) > 0.1)) + 1000.0
    seconds = np.cumsum(rng.exponential(0.1, n)) + 10.0
    since = np.full(n, 1.7e9)
    for start in np.flatnonzero(rng.random(n) < 0.05):
        calls[start:] -= calls[start] - rng.integers(0, 5)
        seconds[start:] -= seconds[start]
        if rng.random() < 0.5:
            since[start:] = times[start]
    since[rng.random(n) < 0.1] = np.nan
    kept = rng.random(n) > 0.05 * (number % 5)
    if number % 7 == 0:
        kept[20:26] = False
    return Counters(
        key(f"{number:03}"), times[kept], calls[kept], seconds[kept], since[kept]
    )


def side_of(usable, *, after):
    """Slow sums of one side: samples, calls, seconds, duration."""
    chosen = [
        one for one in usable if (one[0] >= DEPLOY_AT if after else one[1] <= DEPLOY_AT)
    ]
    if not chosen:
        return 0, 0.0, 0.0, 0.0
    return (
        len(chosen),
        sum(one[2] for one in chosen),
        sum(one[3] for one in chosen),
        chosen[-1][1] - chosen[0][0],
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_is_prepared_as_its_queries_are_slowly(seed):
    rng = np.random.default_rng(seed)
    series = [irregular(rng, number) for number in range(60)]
    (batch,) = batches(series)

    prepared = prepare(batch, DEPLOY_AT, END, SETTINGS, history=0.0)

    past = dict(zip(prepared.rows.tolist(), range(prepared.rows.size), strict=True))
    for row, one in enumerate(series):
        inside = (one.times >= START) & (one.times <= END)
        rows = list(
            zip(one.times[inside], one.calls[inside], one.seconds[inside], strict=True)
        )
        usable, dropped = reference.interval_means(
            rows, list(one.since[inside]), SETTINGS.max_gap
        )
        before, after = (side_of(usable, after=late) for late in (False, True))

        assert prepared.usable[row] == len(usable)
        assert {
            "reset": prepared.dropped.reset[row],
            "gap": prepared.dropped.gap[row],
            "idle": prepared.dropped.idle[row],
        } == dropped
        for side, slow in ((prepared.before, before), (prepared.after, after)):
            fast = side.samples[row], side.calls[row], side.seconds[row]
            assert (*fast, side.duration[row]) == pytest.approx(slow, rel=1e-9)
        enough = all(side[0] >= 5 and side[1] >= 50 for side in (before, after))
        assert (row in past) == (enough and before[2] > 0)
        if row in past:
            factor = (after[2] / after[1]) / (before[2] / before[1])
            assert prepared.factor[row] == pytest.approx(factor, rel=1e-9)
            assert prepared.risen[past[row]] == (factor >= 1.2)
            means = prepared.means[past[row]]
            slow_means = [one[3] / one[2] for one in usable]
            assert means[prepared.calls[past[row]] > 0] == pytest.approx(slow_means)


def test_time_in_intervals_too_long_to_be_used_is_counted():
    times = DEPLOY_AT + np.array([-120.0, -60.0, 0.0, 60.0, 400.0, 460.0])
    seconds = np.array([1.0, 2.0, 3.0, 4.0, 9.0, 10.0])
    one = Counters(key(), times, 100.0 * np.arange(1.0, 7.0), seconds)

    prepared = prepare(one.batch(), DEPLOY_AT, END, SETTINGS, history=0.0)

    assert prepared.dropped.gap.tolist() == [1]
    assert prepared.unused_seconds.tolist() == [5.0]
    assert prepared.after.seconds.tolist() == [2.0]
