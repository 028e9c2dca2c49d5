"""Counters become interval means, and what cannot be trusted is dropped and counted."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import reference
from tests.builders import counters, scrapes
from tests.queries import interval_means


def _means(series, *, start=-math.inf, end=math.inf, max_gap=60):
    (found,) = interval_means([series], start, end, max_gap=max_gap)
    return found


def test_an_interval_mean_is_time_added_per_call_added():
    series = scrapes((0, 100, 1.0), (15, 110, 1.5))

    means = _means(series)

    assert means.means == pytest.approx([0.05])
    assert (means.starts[0], means.ends[0], means.calls[0]) == (0, 15, 10)


def test_a_reset_costs_one_interval_and_no_more():
    series = scrapes((0, 100, 1.0), (15, 110, 1.5), (30, 5, 0.1), (45, 15, 0.6))

    means = _means(series)

    assert means.ends == pytest.approx([15, 45])
    assert means.dropped == {"reset": 1, "gap": 0, "idle": 0}


def test_a_falling_time_counter_alone_is_a_reset():
    series = scrapes((0, 100, 1.0), (15, 110, 0.5))

    assert _means(series).dropped["reset"] == 1


def test_an_entry_that_came_back_with_more_calls_is_a_reset():
    """P11: evicted and back, the counters grew, only stats_since tells."""
    series = scrapes((0, 3, 0.1), (15, 40, 4.0), since=[5.0, 12.0])

    assert _means(series).dropped["reset"] == 1


def test_an_unknown_entry_time_is_not_an_evidence_of_a_reset():
    series = scrapes((0, 3, 0.1), (15, 40, 4.0), since=[math.nan, 12.0])

    assert _means(series).means.size == 1


def test_missing_scrapes_make_a_gap_only_beyond_the_limit():
    series = scrapes((0, 10, 1.0), (60, 20, 2.0), (121, 30, 3.0))

    means = _means(series)

    assert means.ends == pytest.approx([60])
    assert means.dropped["gap"] == 1


def test_an_interval_without_calls_is_idle_and_not_zero():
    series = scrapes((0, 10, 1.0), (15, 10, 1.0), (30, 11, 1.5))

    means = _means(series)

    assert means.means == pytest.approx([0.5])
    assert means.dropped["idle"] == 1


@pytest.mark.parametrize("rows", [(), ((0.0, 1.0, 1.0),)])
def test_fewer_than_two_scrapes_hold_no_interval(rows):
    assert _means(scrapes(*rows)).means.size == 0


@pytest.mark.parametrize("gap", [0.0, -1.0, math.nan])
def test_a_gap_limit_that_is_not_positive_is_refused(gap):
    with pytest.raises(ValueError, match="max_gap must be positive"):
        _means(scrapes(), max_gap=gap)


def test_both_ends_of_a_range_belong_to_it():
    series = scrapes(*((t, t, t) for t in range(0, 100, 10)))

    means = _means(series, start=20, end=50)

    assert means.starts.tolist() == [20, 30, 40]
    assert means.ends.tolist() == [30, 40, 50]


@pytest.mark.parametrize("at", [1_790_000_000.123, 1_790_000_000.7, 1e9 + 0.001])
def test_a_scrape_at_the_very_end_is_inside_whatever_floats_make_of_the_sum(at):
    series = scrapes(*((round(at + t, 3), t, t) for t in range(-1800, 1801, 60)))

    means = _means(series, start=at - 1800, end=at + 1800)

    assert means.means.size == 60


_ROWS = st.lists(
    st.tuples(
        st.integers(1, 400), st.integers(-5, 50), st.floats(-1, 50), st.integers(0, 2)
    ),
    max_size=30,
)


@given(steps=_ROWS)
def test_it_agrees_with_its_slow_twin(steps):
    table = np.cumsum(np.array([(0, 500, 500.0, 0), *steps], dtype=float), axis=0)
    rows = [(float(t), float(c), float(s)) for t, c, s, _ in table]
    since = [math.nan if e % 5 == 4 else float(e) for e in table[:, 3]]

    means = _means(scrapes(*rows, since=since), max_gap=300)

    usable, dropped = reference.interval_means(rows, since, 300)
    assert means.dropped == dropped
    found = zip(means.starts, means.ends, means.calls, means.seconds, strict=True)
    assert [tuple(map(float, row)) for row in found] == usable


@given(steps=st.lists(st.tuples(st.integers(1, 1000), st.floats(0, 1e3)), min_size=1))
def test_calls_times_means_gives_back_the_time_spent(steps):
    table = np.cumsum([(15.0, c, s) for c, s in steps], axis=0)

    means = _means(scrapes((0, 0, 0), *map(tuple, table)))

    assert means.calls @ means.means == pytest.approx(sum(s for _, s in steps))


@given(rows=st.lists(_ROWS, max_size=6))
def test_together_and_one_by_one_are_the_same_intervals(rows):
    series = []
    for steps in rows:
        table = np.cumsum(np.array([(0, 500, 500.0, 0), *steps], dtype=float), axis=0)
        since = table[:, 3].tolist() if len(steps) % 2 else None
        series.append(scrapes(*map(tuple, table[:, :3]), since=since))

    together = interval_means(series, 0, 2000, max_gap=300)

    for one, found in zip(series, together, strict=True):
        alone = _means(one, start=0, end=2000, max_gap=300)
        assert alone.dropped == found.dropped
        for name in ("starts", "ends", "calls", "seconds", "means"):
            assert getattr(alone, name).tolist() == getattr(found, name).tolist()


def _with_squares(*rows, squares):
    return replace(scrapes(*rows), squares=np.array(squares, dtype=np.float64))


def test_the_dispersion_of_the_calls_is_what_their_squares_exceed_those_of_the_mean():
    """Calls of 0.1, 0.2 and 0.6 s: mean 0.3, distances 0.2, 0.1 and 0.3."""
    series = _with_squares((0, 100, 5.0), (15, 103, 5.9), squares=[0.8, 0.8 + 0.41])

    assert _means(series).dispersion == pytest.approx([0.04 + 0.01 + 0.09])


def test_a_lone_call_has_no_dispersion():
    series = _with_squares((0, 100, 5.0), (15, 101, 5.9), squares=[0.8, 0.8 + 0.81])

    assert np.isnan(_means(series).dispersion).all()


@pytest.mark.parametrize(
    "squares",
    [[1e14, 1e14 + 0.41], [0.8, 0.7], [0.8, math.nan], [0.8, 0.8 + 0.27]],
    ids=["lost in rounding", "fell", "unknown", "all alike"],
)
def test_a_dispersion_that_rounding_may_have_made_is_unknown_and_no_reset(squares):
    found = _means(_with_squares((0, 100, 5.0), (15, 103, 5.9), squares=squares))

    assert np.isnan(found.dispersion).tolist() == [True]
    assert found.means == pytest.approx([0.3])
    assert found.dropped == {"reset": 0, "gap": 0, "idle": 0}


def test_without_the_squares_there_is_not_a_dispersion():
    assert _means(scrapes((0, 100, 5.0), (15, 103, 5.9))).dispersion is None


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("calls", np.inf),
        ("calls", -np.inf),
        ("seconds", np.nan),
        ("seconds", np.inf),
        ("seconds", -np.inf),
    ],
)
def test_a_counter_that_is_not_finite_spoils_only_its_own_intervals(column, value):
    whole = counters(np.full(10, 0.01))
    broken = getattr(whole, column).copy()
    broken[4] = value

    (found,) = interval_means(
        [replace(whole, **{column: broken})], -np.inf, np.inf, max_gap=300
    )

    assert sum(found.dropped.values()) == 2
    assert found.means == pytest.approx(np.full(8, 0.01))


def test_a_scrape_that_did_not_store_the_query_makes_one_longer_interval():
    whole = counters(np.full(10, 0.01))
    missing = np.where(np.arange(11) == 4, np.nan, whole.calls)

    (found,) = interval_means(
        [replace(whole, calls=missing)], -np.inf, np.inf, max_gap=300
    )

    assert sum(found.dropped.values()) == 0
    assert np.diff([found.starts, found.ends], axis=0)[0].tolist() == [
        *(60.0,) * 3,
        120.0,
        *(60.0,) * 5,
    ]
    assert found.means == pytest.approx(np.full(9, 0.01))
