"""A change that nobody saw happen may have happened anywhere in the gap."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.engine.stats.nearness import ends_before, hides_changes, near

AT, TOLERANCE = 1_000_000.0, 360.0


def slow_end_before(column, present, ends):
    end = None
    for place in range(column):
        if present[place]:
            end = ends[place]
    return end


def slow_near(begin, seen_until):
    """Whether some moment between the two segments is near, asked second by second."""
    moments = np.append(np.arange(seen_until, begin, 1.0), begin)
    return bool(np.any(np.abs(moments - AT) <= TOLERANCE))


@pytest.mark.parametrize(
    ("seen_until", "begin", "is_near"),
    [
        (AT, AT, True),
        (AT + 360, AT + 360, True),
        (AT + 361, AT + 361, False),
        (AT - 361, AT - 361, False),
        # The gap holds the deploy, or begins soon after it.
        (AT - 5, AT + 3000, True),
        (AT + 15, AT + 600, True),
        # The gap ended just before the deploy, or long before.
        (AT - 3000, AT - 60, True),
        (AT - 3000, AT - 361, False),
        # It began when the tolerance was over.
        (AT + 361, AT + 3000, False),
    ],
)
def test_a_change_is_near_when_some_moment_of_the_gap_is(seen_until, begin, is_near):
    arrays = np.array([begin]), np.array([seen_until])

    assert near(*arrays, at=AT, tolerance=TOLERANCE).tolist() == [is_near]
    assert slow_near(begin, seen_until) == is_near


def grid(rng, share):
    """Which of 60 intervals each of 200 queries has, and their starts and ends."""
    lengths = rng.choice([15.0, 60.0, 400.0], 60, p=[0.2, 0.75, 0.05])
    times = np.concatenate([[0.0], np.cumsum(lengths)])
    times += AT - times[30] + rng.uniform(-60, 60)
    present = rng.random((200, 60)) < share
    present[:, [0, -1]] = True
    return present, times[:-1], times[1:]


@pytest.mark.parametrize("share", [1.0, 0.9, 0.3, 0.05])
def test_the_fast_and_the_slow_way_agree(share):
    rng = np.random.default_rng(5)
    for _ in range(5):
        present, starts, ends = grid(rng, share)
        columns = np.array([rng.choice(np.flatnonzero(row)[1:]) for row in present])

        fast = ends_before(columns, present, ends)
        hides = hides_changes(present, starts, ends, at=AT, tolerance=TOLERANCE)

        for row, column in enumerate(columns):
            assert fast[row] == slow_end_before(column, present[row], ends)
            late = [
                place
                for place in np.flatnonzero(present[row])[1:]
                if starts[place] > AT + TOLERANCE
                and slow_end_before(place, present[row], ends) <= AT + TOLERANCE
            ]
            assert hides[row] == bool(late)


def test_nothing_is_hidden_without_intervals_on_both_sides():
    starts, present = np.array([AT - 60, AT, AT + 60]), np.ones((2, 3), dtype=bool)
    for at in (AT - 1000, AT + 1000):
        hides = hides_changes(present, starts, starts + 60, at=at, tolerance=TOLERANCE)

        assert not hides.any()
