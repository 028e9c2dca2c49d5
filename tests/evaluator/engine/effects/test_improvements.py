"""What got faster at the deploy."""

from __future__ import annotations

import pytest

from evaluator.model import Settings
from tests.builders import key

from .worlds import background, effects, ids, statement


@pytest.mark.parametrize("engine", ["calibrated", "classic"])
def test_a_statement_that_got_faster_is_found(engine):
    world = [statement("fixed", after=0.004), *background()]

    (faster,) = effects(world, settings=Settings(engine=engine)).improvements

    assert faster.key == key("fixed")
    assert faster.factor == pytest.approx(0.4, rel=0.1)
    assert faster.saved == pytest.approx(0.024, rel=0.15)
    assert (faster.q_value is None) is (engine == "classic")


@pytest.mark.parametrize("engine", ["calibrated", "classic"])
def test_what_did_not_change_or_got_slower_is_not(engine):
    world = [statement("slower", after=0.02), *background()]

    assert effects(world, settings=Settings(engine=engine)).improvements == ()


def test_a_fall_smaller_than_the_threshold_takes_back_is_not():
    world = [statement("hardly", after=0.009), *background()]

    assert effects(world).improvements == ()


def test_those_that_save_most_are_first():
    world = [
        statement("small", mean=0.002, after=0.001),
        statement("large", after=0.004),
        *background(),
    ]

    assert ids(effects(world).improvements) == ["large", "small"]
