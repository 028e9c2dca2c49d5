"""The load of a server before and after adds up, whatever happens to its counters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.engine.effects.lives import lives_of
from evaluator.engine.effects.load import contributions, load_change
from evaluator.engine.effects.rates import rates_of
from evaluator.model import LoadKind, Settings
from tests import reference_effects as slow
from tests.builders import DEPLOY_AT, counters, scrapes
from tests.queries import batches

from .worlds import background, effects, statement

METHOD = Settings()
END = DEPLOY_AT + METHOD.window
KINDS = list(LoadKind)


def change_of(series):
    (batch,) = batches(series)
    rates = rates_of(batch, DEPLOY_AT, END, METHOD)
    lives = lives_of(
        batch, {}, at=DEPLOY_AT, settled=DEPLOY_AT, end=END, settings=METHOD
    )
    return batch, rates, lives, load_change(rates, lives.since, lives.vanished)


WORLD = [
    statement("slower", after=0.02),
    statement("often", often=12.0),
    statement("new", begins=1),
    statement("gone", ends=0),
    statement("evicted", entry_ends=20),
    *background(5),
]


def parts_of(load):
    return {part.kind: part.change.value for part in load.parts}


def test_each_part_is_what_was_done_to_its_statement():
    *_, load = change_of(WORLD)

    parts = parts_of(load)
    assert parts[LoadKind.SLOWER_CALLS] == pytest.approx(0.04, rel=0.1)
    assert parts[LoadKind.MORE_CALLS] == pytest.approx(0.08 - 0.04 / 3, rel=0.1)
    assert parts[LoadKind.NEW] == pytest.approx(0.04, rel=0.1)
    assert parts[LoadKind.VANISHED] == pytest.approx(-0.04, rel=0.1)
    named = [part.largest[0].key.queryid for part in load.parts]
    assert named == ["slower", "often", "new", "gone"]


def test_the_parts_add_up():
    *_, load = change_of(WORLD)

    assert sum(parts_of(load).values()) == pytest.approx(load.change, abs=1e-9)


def test_a_slow_twin_finds_the_same():
    batch, rates, lives, load = change_of(WORLD)

    both = slow.sides(batch, DEPLOY_AT, DEPLOY_AT - METHOD.window, END, METHOD.max_gap)
    fast = contributions(rates, lives.since, lives.vanished)
    for row, (before, after) in enumerate(both):
        new, gone = bool(lives.since[row]), bool(lives.vanished[row])
        expected = slow.parts(before, after, new=new, vanished=gone)
        found = dict(zip(KINDS, fast[:, row], strict=True))
        assert found == pytest.approx({kind: expected.get(kind, 0.0) for kind in KINDS})
    total = sum(seconds / observed for (_, seconds, observed), _ in both)
    assert load.before.value == pytest.approx(total)


VALUES = st.one_of(st.integers(0, 50).map(float), st.just(np.nan))


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(st.tuples(VALUES, st.floats(0, 2)), min_size=60, max_size=60),
        min_size=1,
        max_size=5,
    )
)
def test_it_adds_up_over_resets_gaps_and_missing_scrapes(rows):
    """What falls is a reset, what is NaN a scrape that did not store the entry."""
    series = [
        replace(
            counters(np.full(60, 0.01), queryid=str(number)),
            calls=np.array([0.0, *(calls for calls, _ in row)]),
            seconds=np.array(
                [0.0, *(np.nan if np.isnan(c) else seconds for c, seconds in row)]
            ),
        )
        for number, row in enumerate(rows)
    ]

    *_, load = change_of(series)

    assert sum(parts_of(load).values()) == pytest.approx(load.change, abs=1e-9)


def test_a_reset_costs_its_interval_and_not_the_load():
    steady = background(3)
    calls, seconds = (
        np.where(np.arange(331) < 310, one, one - one[310])
        for one in (steady[0].calls, steady[0].seconds)
    )
    reset = replace(steady[0], calls=calls, seconds=seconds)

    *_, whole = change_of(steady)
    *_, load = change_of([reset, *steady[1:]])

    assert load.after.value == pytest.approx(whole.after.value, rel=0.02)


def test_few_scrapes_have_a_load_without_an_interval():
    rows = [(DEPLOY_AT + 60.0 * n, 10.0 * n, 0.1 * n) for n in (-2, -1, 0, 1, 2)]

    *_, load = change_of([scrapes(*rows)])

    assert load.before.value == pytest.approx(load.after.value)
    assert load.before.low is None


@pytest.mark.parametrize("engine", ["calibrated", "classic"])
def test_a_report_has_the_load_of_each_server(engine):
    found = effects(WORLD, settings=Settings(engine=engine))

    (load,) = found.loads
    assert load.server == WORLD[0].key.instance
    before = load.before
    assert before.low is not None
    assert before.high is not None
    assert before.low < before.value < before.high


@pytest.mark.statistical
@pytest.mark.parametrize("phi", [0.0, 0.5])
def test_an_interval_holds_the_truth_as_often_as_it_says(phi):
    """Of 400 unchanged loads 95 % intervals of the change hold 0; below 0.90 of them
    has a chance of 1e-5 at 0.95."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        walk = rng.standard_normal(60)
        for place in range(1, 60):
            walk[place] = phi * walk[place - 1] + np.sqrt(1 - phi**2) * walk[place]
        *_, load = change_of([counters(0.01 * np.exp(0.3 * walk))])
        slower = load.parts[0].change
        held += slower.low <= 0.0 <= slower.high
    assert 0.90 <= held / 400 <= 0.99
