"""Series under a sticky limit do not come and go, and costly ones are admitted."""

from __future__ import annotations

import random
from collections.abc import Iterable
from heapq import nlargest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.metrics.sticky_limit import FACTOR, StickyLimit
from exporter.values.snapshot import StatementKey, Statements

from ..builders import key, statements


def costing(costs: dict[int, float]) -> Statements:
    """Statements by queryid, with the cost of each."""
    return statements(*map(key, costs), seconds=list(costs.values()))


def shown(limit: StickyLimit, costs: dict[int, float]) -> set[int]:
    return {queryid for _, _, queryid, _ in limit.apply(costing(costs)).statements.keys}


def test_the_costliest_are_admitted() -> None:
    assert shown(StickyLimit(2), {1: 1.0, 2: 3.0, 3: 2.0}) == {2, 3}


def test_an_admitted_statement_stays_when_ranks_change() -> None:
    limit = StickyLimit(2)
    shown(limit, {1: 1.0, 2: 3.0, 3: 2.0})

    assert shown(limit, {1: 3.5, 2: 3.0, 3: 2.0}) == {2, 3}


def test_a_statement_that_cost_more_than_twice_as_much_replaces_the_cheapest() -> None:
    limit = StickyLimit(2)
    shown(limit, {1: 1.0, 2: 3.0, 3: 2.0})

    assert shown(limit, {1: 4.1, 2: 3.0, 3: 2.0}) == {1, 2}


def test_a_free_place_goes_to_the_costliest() -> None:
    limit = StickyLimit(2)
    shown(limit, {1: 1.0, 2: 3.0, 3: 2.0, 4: 1.5})

    assert shown(limit, {1: 1.0, 3: 2.0, 4: 1.5}) == {3, 4}


def test_what_is_left_out_is_counted_with_its_share_of_the_time() -> None:
    limited = StickyLimit(1).apply(costing({1: 1.0, 2: 3.0}))

    assert limited.left_out.statements == 1
    assert limited.left_out.share == pytest.approx(0.25)


def test_all_columns_are_limited() -> None:
    read = statements(key(1), key(2), seconds=[1.0, 2.0], calls=[10, 20])

    limited = StickyLimit(1).apply(read).statements

    assert limited.columns == {"seconds": [2.0], "calls": [20]}


COSTS = st.dictionaries(st.integers(1, 30), st.floats(0, 1e6), max_size=30)


@given(rounds=st.lists(COSTS, min_size=1, max_size=8), places=st.integers(1, 10))
def test_places_are_filled_and_no_statement_leaves_without_cause(
    rounds: list[dict[int, float]], places: int
) -> None:
    limit = StickyLimit(places)
    before: set[int] = set()

    for costs in rounds:
        now = shown(limit, costs)

        assert len(now) == min(places, len(costs))
        left, came = (before & costs.keys()) - now, now - before
        for gone in left:
            assert any(costs[new] > FACTOR * costs[gone] for new in came)
        outside = costs.keys() - now
        assert all(
            costs[out] <= FACTOR * costs[inside] for out in outside for inside in now
        )
        before = now


def fluctuating(seed: int, *, queries: int, scrapes: int) -> Iterable[dict[int, float]]:
    """Totals of a bursty load whose costs vary as widely as real ones."""
    rng = random.Random(seed)  # noqa: S311 - a load, not a secret
    rate = {query: rng.paretovariate(1.0) for query in range(queries)}
    total = dict.fromkeys(range(queries), 0.0)
    for _ in range(scrapes):
        for query in total:
            total[query] += rate[query] * rng.expovariate(1.0)
        yield dict(total)


@pytest.mark.parametrize("seed", range(3))
def test_a_realistic_load_settles_where_a_plain_top_n_keeps_changing(seed: int) -> None:
    limit, places = StickyLimit(100), 100
    sticky, plain = Arrivals(), Arrivals()

    for costs in fluctuating(seed, queries=2000, scrapes=60):
        sticky.see(limit.apply(costing(costs)).statements.keys)
        plain.see(map(key, nlargest(places, costs, key=costs.__getitem__)))

    assert sticky.returned <= 3
    assert plain.returned >= 40
    assert sticky.new < plain.new / 5


class Arrivals:
    """Counts series that appear, and appear again, after the first ten scrapes."""

    def __init__(self) -> None:
        self.new = self.returned = self._scrapes = 0
        self._now: set[StatementKey] = set()
        self._ever: set[StatementKey] = set()

    def see(self, keys: Iterable[StatementKey]) -> None:
        now = set(keys)
        new = now - self._now
        if self._scrapes >= 10:
            self.new += len(new)
            self.returned += len(new & self._ever)
        self._scrapes += 1
        self._ever |= now
        self._now = now
