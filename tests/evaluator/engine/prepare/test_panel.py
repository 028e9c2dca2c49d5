"""Intervals of many queries on one grid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.engine.prepare.panel import panels
from evaluator.engine.prepare.prepared import prepare
from evaluator.model import Panel, Settings
from tests.builders import key
from tests.queries import Counters, batches

AT = 300.0
SETTINGS = Settings(window=300.0, min_samples=1, min_calls=1)


def scraped(queryid: str, *minutes: int) -> Counters:
    """Ten calls between two scrapes; in minute m each of them takes 0.1 m + 0.1 s."""
    starts = np.array(minutes[:-1], dtype=np.float64)
    seconds = np.concatenate([[0.0], np.cumsum(10 * (0.1 * starts + 0.1))])
    times = 60.0 * np.array(minutes)
    return Counters(
        key(queryid), times, np.arange(0.0, 10.0 * times.size, 10.0), seconds
    )


WHOLE = scraped("1", *range(10))


def panel_of(*series: Counters, at: float = AT, window: float = 180.0) -> Panel:
    """The one panel of these queries."""
    (batch,) = batches(series)
    prepared = prepare(batch, at, 540.0, SETTINGS, history=at)
    chosen = np.ones(prepared.rows.size, dtype=bool)
    ((_, panel),) = panels(prepared, chosen, at=at, window=window)
    return panel


def test_queries_stand_in_the_order_of_their_keys():
    later = scraped("2", *range(10))
    later = replace(later, seconds=2.0 * later.seconds)

    panel = panel_of(later, WHOLE)

    assert panel.means[1] == pytest.approx(2.0 * panel.means[0])


def test_the_deploy_divides_the_grid_and_the_window_is_counted():
    panel = panel_of(WHOLE)

    assert (panel.before, panel.after, panel.window) == (5, 5, 3)


def test_an_interval_across_the_deploy_is_on_neither_side():
    panel = panel_of(WHOLE, at=AT + 20)

    assert (panel.before, panel.after) == (5, 6)


def test_an_absent_interval_has_no_calls():
    idle = np.isin(np.arange(9), [1, 3])
    gappy = replace(
        scraped("2", *range(10)),
        calls=np.concatenate([[0.0], np.cumsum(np.where(idle, 0.0, 10.0))]),
    )

    panel = panel_of(WHOLE, gappy)

    assert list(np.flatnonzero(panel.present[1])) == [0, 2, 4, 5, 6, 7, 8]
    assert panel.means[1, 2] == pytest.approx(0.3)
    assert panel.means[1, 1] == 0.0


def test_a_skipped_scrape_does_not_widen_the_grid():
    panel = panel_of(WHOLE, scraped("2", 0, 1, 2, 3, 4, 5, 6, 8, 9))

    assert list(panel.starts) == [60.0 * m for m in range(9)]
    assert not panel.present[1, 6]
    assert panel.means[1, 7] == pytest.approx(0.7)


def test_a_long_interval_across_the_deploy_is_not_counted_as_after():
    panel = panel_of(WHOLE, scraped("2", 0, 1, 2, 3, 4, 6, 7, 8, 9))

    assert list(np.flatnonzero(panel.present[1])) == [0, 1, 2, 3, 6, 7, 8]


def test_a_scrape_that_stored_nothing_usable_is_not_a_column():
    lonely = replace(
        WHOLE, since=np.where(np.arange(10) < 4, 1.0, 2.0), key=key("only")
    )

    panel = panel_of(lonely)

    assert 180.0 not in panel.starts
    assert panel.means.shape == (1, 8)


def test_the_dispersion_stands_at_its_interval_and_is_unknown_elsewhere():
    known = scraped("2", *range(10))
    squares = np.full(10, np.nan)
    squares[3:] = 1.0 + np.arange(7.0) * 100.0
    known = replace(known, squares=squares)

    panel = panel_of(WHOLE, known)

    assert panel.dispersion is not None
    assert np.isnan(panel.dispersion[0]).all()
    assert np.isnan(panel.dispersion[1]).tolist() == [True] * 3 + [False] * 6
    # 100 in squares, ten calls of 0.4 s each.
    assert panel.dispersion[1, 3] == pytest.approx(100.0 - 10 * 0.4**2)


def test_a_panel_needs_a_value_for_every_query_and_interval():
    with pytest.raises(ValueError, match="shape"):
        Panel(np.zeros(3), np.ones(3), np.ones((2, 3)), np.ones((2, 2)), 1, 1, 1)


def test_one_side_alone_is_not_a_panel():
    with pytest.raises(ValueError, match="both sides"):
        Panel(np.zeros(3), np.ones(3), np.ones((2, 3)), np.ones((2, 3)), 3, 3, 1)
