"""Series under a limit neither wander in and out nor keep what is costly outside."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.limit import FACTOR, Limit, costliest
from exporter.snapshot import StatementKey, Statements

from .builders import key, statements


def costing(costs: dict[int, float]) -> Statements:
    """Statements by queryid, with what each has cost."""
    return statements(*map(key, costs), seconds=list(costs.values()))


def shown(limit: Limit, costs: dict[int, float]) -> set[int]:
    return {queryid for _, _, queryid, _ in limit.of(costing(costs)).statements.keys}


def test_the_costliest_are_admitted() -> None:
    assert shown(Limit(2), {1: 1.0, 2: 3.0, 3: 2.0}) == {2, 3}


def test_who_is_admitted_stays_when_ranks_change() -> None:
    limit = Limit(2)
    shown(limit, {1: 1.0, 2: 3.0, 3: 2.0})

    assert shown(limit, {1: 3.5, 2: 3.0, 3: 2.0}) == {2, 3}


def test_who_has_cost_more_than_twice_as_much_takes_the_cheapest_place() -> None:
    limit = Limit(2)
    shown(limit, {1: 1.0, 2: 3.0, 3: 2.0})

    assert shown(limit, {1: 4.1, 2: 3.0, 3: 2.0}) == {1, 2}


def test_a_place_that_becomes_free_is_given_to_the_costliest() -> None:
    limit = Limit(2)
    shown(limit, {1: 1.0, 2: 3.0, 3: 2.0, 4: 1.5})

    assert shown(limit, {1: 1.0, 3: 2.0, 4: 1.5}) == {3, 4}


def test_what_is_left_out_is_told_with_its_share_of_the_time() -> None:
    limited = Limit(1).of(costing({1: 1.0, 2: 3.0}))

    assert limited.left_out.statements == 1
    assert limited.left_out.share == pytest.approx(0.25)


def test_all_columns_are_cut_alike() -> None:
    read = statements(key(1), key(2), seconds=[1.0, 2.0], calls=[10, 20])

    limited = Limit(1).of(read).statements

    assert limited.columns == {"seconds": [2.0], "calls": [20]}


COSTS = st.dictionaries(st.integers(1, 30), st.floats(0, 1e6), max_size=30)


@given(rounds=st.lists(COSTS, min_size=1, max_size=8), places=st.integers(1, 10))
def test_places_are_filled_and_nobody_leaves_without_cause(
    rounds: list[dict[int, float]], places: int
) -> None:
    limit = Limit(places)
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


def wandering(seed: int, *, queries: int, scrapes: int) -> Iterable[dict[int, float]]:
    """Totals of a load whose costs are spread as widely as real ones, and bursty."""
    dice = random.Random(seed)  # noqa: S311 - a load, not a secret
    rate = {query: dice.paretovariate(1.0) for query in range(queries)}
    total = dict.fromkeys(range(queries), 0.0)
    for _ in range(scrapes):
        for query in total:
            total[query] += rate[query] * dice.expovariate(1.0)
        yield dict(total)


@pytest.mark.parametrize("seed", range(3))
def test_a_real_load_settles_where_a_top_n_goes_on_changing(seed: int) -> None:
    limit, places = Limit(100), 100
    stable, top = Comings(), Comings()

    for costs in wandering(seed, queries=2000, scrapes=60):
        stable.see(limit.of(costing(costs)).statements.keys)
        top.see(costliest(costing(costs), places))

    assert stable.returned <= 3
    assert top.returned >= 40
    assert stable.came < top.came / 5


class Comings:
    """Counts series that come, and come again, after the first ten scrapes."""

    def __init__(self) -> None:
        self.came = self.returned = self._scrapes = 0
        self._now: set[StatementKey] = set()
        self._ever: set[StatementKey] = set()

    def see(self, keys: Iterable[StatementKey]) -> None:
        now = set(keys)
        new = now - self._now
        if self._scrapes >= 10:
            self.came += len(new)
            self.returned += len(new & self._ever)
        self._scrapes += 1
        self._ever |= now
        self._now = now


def test_the_costliest_come_first() -> None:
    assert costliest(costing({1: 1.0, 2: 3.0, 3: 2.0}), 2) == [key(2), key(3)]
