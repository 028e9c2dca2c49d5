"""Intervals of many queries on one grid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.engine.prepare.panel import align
from evaluator.model import IntervalMeans, Panel
from tests.builders import key

AT = 300.0


def intervals(queryid: str, *edges: tuple[float, float, float]) -> IntervalMeans:
    """(start, end, mean) of each interval, ten calls each."""
    starts, ends, means = np.array(edges, dtype=np.float64).T
    calls = np.full(means.size, 10.0)
    return IntervalMeans(key(queryid), starts, ends, calls, 10 * means, means, {})


def every_minute(queryid: str, first: int, last: int) -> IntervalMeans:
    minutes = range(first, last)
    return intervals(
        queryid, *((60.0 * m, 60.0 * m + 60, 0.1 * m + 0.1) for m in minutes)
    )


def test_queries_stand_in_the_order_of_their_keys():
    panel = align([every_minute("2", 0, 9), every_minute("1", 0, 9)], at=AT, window=180)

    assert panel is not None
    assert [key.queryid for key in panel.keys] == ["1", "2"]


def test_the_deploy_divides_the_grid_and_the_window_is_counted():
    panel = align([every_minute("1", 0, 9)], at=AT, window=180)

    assert panel is not None
    assert (panel.before, panel.after, panel.window) == (5, 5, 3)


def test_an_interval_across_the_deploy_is_on_neither_side():
    panel = align([every_minute("1", 0, 9)], at=AT + 20, window=180)

    assert panel is not None
    assert (panel.before, panel.after) == (5, 6)


def test_an_absent_interval_has_no_calls():
    gappy = intervals("2", (0, 60, 0.1), (120, 180, 0.3), (360, 420, 0.2))
    panel = align([every_minute("1", 0, 9), gappy], at=AT, window=180)

    assert panel is not None
    assert list(np.flatnonzero(panel.present[1])) == [0, 2, 6]
    assert panel.means[1, 2] == pytest.approx(0.3)


def test_a_skipped_scrape_does_not_widen_the_grid():
    skipped = intervals("2", (0, 60, 0.1), (60, 180, 0.3), (360, 420, 0.2))
    panel = align([every_minute("1", 0, 9), skipped], at=AT, window=180)

    assert panel is not None
    assert list(panel.starts) == [60.0 * m for m in range(9)]
    assert panel.means[1, 2] == pytest.approx(0.3)


def test_a_long_interval_across_the_deploy_is_not_counted_as_after():
    across = intervals("2", (0, 60, 0.1), (240, 360, 0.3), (360, 420, 0.2))
    panel = align([every_minute("1", 0, 9), across], at=AT, window=180)

    assert panel is not None
    assert list(np.flatnonzero(panel.present[1])) == [0, 6]


def test_the_scatter_stands_at_its_interval_and_is_unknown_elsewhere():
    known = replace(every_minute("2", 3, 9), scatter=np.arange(6.0))
    panel = align([every_minute("1", 0, 9), known], at=AT, window=180)

    assert panel is not None
    assert panel.scatter is not None
    assert np.isnan(panel.scatter[0]).all()
    assert list(panel.scatter[1, 3:]) == [0, 1, 2, 3, 4, 5]
    assert np.isnan(panel.scatter[1, :3]).all()


@pytest.mark.parametrize("minutes", [(0, 5), (5, 9)], ids=["no after", "no before"])
def test_one_side_alone_is_no_panel(minutes):
    assert align([every_minute("1", *minutes)], at=AT, window=180) is None


def test_no_queries_are_no_panel():
    assert align([], at=AT, window=180) is None


def test_a_panel_needs_a_value_for_every_query_and_interval():
    with pytest.raises(ValueError, match="shape"):
        Panel(
            (key(),), np.zeros(3), np.ones(3), np.ones((2, 3)), np.ones((2, 3)), 1, 1, 1
        )
