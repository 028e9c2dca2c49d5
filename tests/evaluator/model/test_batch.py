"""The counters of many queries side by side: cut, chosen, joined."""

from __future__ import annotations

from itertools import compress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.model import Batch, QueryKey, join

KEYS = [
    QueryKey(server, "shop", "app", query, "true") for server in "ab" for query in "12"
]
# What a slow twin holds: calls by key and time.
Cells = dict[tuple[QueryKey, float], float]


def batch(cells: Cells, server: str) -> Batch:
    """The cells of one server as a batch."""
    keys = tuple(sorted({key for key, _ in cells if key.instance == server}))
    times = sorted({time for key, time in cells if key in keys})
    calls = [[cells.get((key, time), np.nan) for time in times] for key in keys]
    column = np.array(calls, dtype=np.float64).reshape(len(keys), len(times))
    return Batch(keys, np.array(times), {"calls": column, "seconds": column / 10})


def cells_of(batches) -> Cells:
    return {
        (key, float(time)): float(calls)
        for one in batches
        for key, row in zip(one.keys, one.calls, strict=True)
        for time, calls in zip(one.times, row, strict=True)
        if not np.isnan(calls)
    }


cells = st.dictionaries(
    st.tuples(st.sampled_from(KEYS), st.integers(0, 9).map(float)),
    st.integers(0, 99).map(float),
)


@given(cells, st.integers(0, 3))
def test_joined_parts_hold_every_cell_of_each_and_nothing_else(whole, parts):
    """Cells are dealt to parts at random; each query and time is in one part."""
    dealt: list[Cells] = [{} for _ in range(parts + 1)]
    for number, (cell, value) in enumerate(whole.items()):
        dealt[number % (parts + 1)][cell] = value

    joined = join(batch(part, server) for part in dealt for server in "ab")

    assert cells_of(joined) == whole
    assert [one.server for one in joined] == sorted({one.server for one in joined})
    for one in joined:
        assert list(one.keys) == sorted(one.keys)
        assert list(one.times) == sorted(set(one.times))


@given(cells, st.integers(0, 9), st.integers(0, 9))
def test_between_keeps_both_ends_and_copies_nothing(whole, start, end):
    one = batch(whole, "a")

    cut = one.between(start, end)

    inside = (start <= time <= end for _, time in cells_of([one]))
    kept = dict(compress(cells_of([one]).items(), inside))
    assert cells_of([cut]) == kept
    assert cut.calls.size == 0 or np.shares_memory(cut.calls, one.calls)


def test_ends_are_compared_in_whole_milliseconds():
    one = Batch(
        (KEYS[0],),
        np.array([1.0, 2.0, 3.0]),
        {"calls": np.ones((1, 3)), "seconds": np.ones((1, 3))},
    )

    assert one.between(1.0004, 2.9996).times.tolist() == [1.0, 2.0, 3.0]
    assert one.between(1.001, 2.999).times.tolist() == [2.0]


def test_a_column_that_only_one_part_has_is_unknown_in_the_other():
    times, plain = np.array([1.0, 2.0]), np.ones((1, 2))
    with_rows = Batch(
        (KEYS[0],), times, {"calls": plain, "seconds": plain, "rows": 7 * plain}
    )
    without = Batch((KEYS[1],), times, {"calls": plain, "seconds": plain})

    (joined,) = join([with_rows, without])

    np.testing.assert_array_equal(joined.columns["rows"], [[7, 7], [np.nan, np.nan]])


def test_rows_are_chosen_with_their_keys():
    one = batch({(key, 1.0): float(n) for n, key in enumerate(KEYS[:2])}, "a")

    assert one.rows([1]).keys == (KEYS[1],)
    assert one.rows([1]).calls.tolist() == [[1.0]]
    assert one.rows(slice(0, 1)).keys == (KEYS[0],)


def test_a_batch_of_two_servers_or_another_shape_cannot_be():
    column = np.ones((2, 1))
    with pytest.raises(ValueError, match="one server"):
        Batch((KEYS[0], KEYS[2]), np.ones(1), {"calls": column, "seconds": column})
    with pytest.raises(ValueError, match="shape"):
        Batch((KEYS[0],), np.ones(1), {"calls": column, "seconds": column})
