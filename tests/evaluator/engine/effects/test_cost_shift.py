"""A cost that moved from one statement to another is not a regression."""

from __future__ import annotations

import pytest

from tests.builders import key

from .worlds import background, effects, ids, statement

ORDERS = "SELECT * FROM orders JOIN items ON items.o = orders.id WHERE orders.id = $1"
ITEMS = "SELECT * FROM items WHERE o = $1"
TEXTS = {"kept": ORDERS, "gone": ITEMS}


def world(*, after: float = 0.02, mean: float = 0.015):
    """One statement takes 0.01 s more a call, and another ends."""
    return [
        statement("kept", mean=0.01, after=after),
        statement("gone", mean=mean, ends=0),
        *background(),
    ]


def test_a_slower_statement_that_replaced_another_is_moved():
    found = effects(world(), texts=TEXTS)

    (moved,) = found.moved
    assert moved.key == key("kept")
    assert moved.vanished.key == key("gone")
    assert moved.change.value == pytest.approx(0.04 - 0.06, rel=0.2)
    assert found.moved_keys == {key("kept")}


@pytest.mark.parametrize(
    ("more", "texts"),
    [
        ({"mean": 0.002}, TEXTS),
        ({}, {"kept": ORDERS, "gone": "SELECT * FROM customers"}),
        ({}, {}),
    ],
    ids=["the total rose", "other tables", "texts not known"],
)
def test_it_is_a_regression_if(more, texts):
    assert effects(world(**more), texts=texts).moved == ()


def test_one_that_is_called_more_often_in_place_of_another_is_moved():
    series = [
        statement("kept", often=8.0),
        statement("gone", mean=0.012, ends=0),
        *background(),
    ]

    found = effects(series, texts=TEXTS)

    assert ids(found.floods) == ["kept"]
    assert ids(found.moved) == ["kept"]
    assert found.notable_floods == ()


def test_what_a_new_statement_replaced_moved_nowhere_else():
    series = [*world(), statement("new", mean=0.014, begins=1)]

    found = effects(series, texts={**TEXTS, "new": ITEMS})

    assert ids(found.new) == ["new"]
    assert found.moved == ()
