"""Only what was scraped together is put side by side."""

from __future__ import annotations

import numpy as np

from evaluator.engine.prepare.grids import same_grids
from evaluator.engine.prepare.intervals import intervals
from evaluator.model import Floats, Outcome, Settings
from tests.builders import DEPLOY_AT, Counters, counters, deploy, judged, noise
from tests.queries import batches


def grids(*series):
    """Rows of the queries, in the order of their keys, that are one grid."""
    (batch,) = batches(series)
    found = intervals(batch, max_gap=300)
    return [rows.tolist() for rows in same_grids(found.usable, found.lags)]


def test_queries_of_one_scrape_are_one_group_with_a_missed_scrape_and_without():
    whole = counters(np.full(60, 0.01), queryid="1")
    gappy = counters(np.full(60, 0.01), queryid="2")
    kept = np.arange(gappy.times.size) % 20 != 5
    gappy = Counters(
        gappy.key, gappy.times[kept], gappy.calls[kept], gappy.seconds[kept]
    )

    assert grids(gappy, whole) == [[0, 1]]


def test_a_longer_interval_that_ends_at_the_same_scrapes_is_another_grid():
    minute = counters(np.full(60, 0.01), queryid="1")
    quarter = counters(np.full(240, 0.01), queryid="2", step=15)

    assert grids(minute, quarter) == [[1], [0]]


def test_queries_that_are_idle_by_turns_are_still_of_one_grid():
    turns: Floats = np.arange(60.0) // 5 % 2
    whole = counters(np.full(60, 0.01), queryid="0")
    one = counters(np.full(60, 0.01), 40.0 * turns, queryid="1")
    other = counters(np.full(60, 0.01), 40.0 * (1 - turns), queryid="2")

    assert grids(whole, one, other) == [[0, 1, 2]]


def test_a_server_scraped_twice_is_judged_as_if_it_were_two():
    """Side by side, the longer intervals would seem to begin with the shorter ones."""
    step = np.where(np.arange(60) < 30, 1.0, 1.5)
    minute = [
        counters(0.01 * noise(np.random.default_rng(i)) * step, queryid=f"m{i}")
        for i in range(3)
    ]
    quarter = [
        counters(0.01 * noise(np.random.default_rng(i), 240), queryid=f"q{i}", step=15)
        for i in range(3)
    ]

    verdicts = judged([*minute, *quarter], deploy(), Settings())

    assert [v.outcome for v in verdicts[:3]] == [Outcome.DETECTED] * 3
    assert [v.change and v.change.at for v in verdicts[:3]] == [DEPLOY_AT] * 3


def test_the_order_of_the_queries_does_not_change_what_is_grouped():
    rng = np.random.default_rng(3)
    series = []
    for number in range(12):
        step = (60.0, 15.0, 30.0)[number % 3]
        whole = counters(
            np.full(int(3600 / step), 0.01), queryid=f"{number:02}", step=step
        )
        kept = rng.random(whole.times.size) > 0.02
        series.append(
            Counters(
                whole.key, whole.times[kept], whole.calls[kept], whole.seconds[kept]
            )
        )
    (batch,) = batches(series)
    found = intervals(batch, max_gap=300)

    def groups(order):
        """The grids of the rows in another order, as sets of the rows' numbers."""
        lags = found.lags[order]
        return {
            frozenset(order[rows].tolist())
            for rows in same_grids(found.usable[order], lags)
        }

    expected = {frozenset(range(start, 12, 3)) for start in range(3)}
    for _ in range(5):
        assert groups(rng.permutation(12)) == expected
