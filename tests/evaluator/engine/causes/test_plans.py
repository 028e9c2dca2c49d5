"""Which plan was in force, and what is lost and gained."""

import pytest

from evaluator.engine.causes.plans import plan_change
from evaluator.model import PlanSeen
from tests.builders import DEPLOY_AT, KEY, key

BY_INDEX = "Limit > Index Scan orders_placed on orders"
BY_SORT = "Limit > Sort > Seq Scan orders"


def seen(plan_id, first, last, outline=None, of=KEY) -> PlanSeen:
    """A plan in force from *first* to *last*, minutes after the deploy."""
    times = DEPLOY_AT + 60 * first, DEPLOY_AT + 60 * last
    return PlanSeen(of, plan_id, outline or plan_id, *times)


def change(*plans, **more):
    return plan_change(KEY, plans, at=DEPLOY_AT, **more)


def test_a_lost_index_is_named():
    found = change(seen("a", -30, -1, BY_INDEX), seen("b", 0.5, 30, BY_SORT))

    assert found is not None
    assert (found.before, found.after) == (BY_INDEX, BY_SORT)
    assert found.lost == ("Index Scan orders_placed on orders",)
    assert found.gained == ("Sort", "Seq Scan orders")


def test_branches_of_a_join_are_compared_node_by_node():
    before = "Hash Left Join (Seq Scan a, Hash > Index Only Scan b_pkey on b)"
    after = "Hash Left Join (Seq Scan a, Hash > Seq Scan a)"

    found = change(seen("a", -9, -1, before), seen("b", 1, 9, after))

    assert found is not None
    assert found.lost == ("Index Only Scan b_pkey on b",)
    assert found.gained == ("Seq Scan a",)


def test_the_old_plan_may_be_seen_for_a_while_after_the_deploy():
    found = change(seen("b", 12, 30), seen("a", -30, 11))

    assert found is not None
    assert (found.before, found.after) == ("a", "b")


@pytest.mark.parametrize(
    "plans",
    [
        (),
        (seen("a", -30, 30),),
        (seen("a", -30, -5), seen("a", 5, 30)),
        (seen("a", -30, -5),),
        (seen("b", 5, 30),),
        (seen("a", -30, -5), seen("b", 5, 30, of=key("7"))),
        (seen("a", -30, -20), seen("b", -19, 30)),
    ],
    ids=[
        "nothing-known",
        "same",
        "same-after-a-gap",
        "unknown-after",
        "unknown-before",
        "another-query",
        "changed-long-before",
    ],
)
def test_no_change_is_reported_where_none_is_known(plans):
    assert change(*plans) is None


def test_the_last_plan_before_and_the_first_other_one_after_are_compared():
    order = {-20: "a", -15: "b", -5: "a", 1: "c", 6: "b"}
    plans = [seen(name, at, at + 4) for at, name in order.items()]

    found = change(*plans)

    assert found is not None
    assert (found.before, found.after) == ("a", "c")


def test_a_renamed_query_is_compared_with_its_former_plan():
    plans = seen("a", -30, -1, of=key("old")), seen("b", 1, 30)

    assert change(*plans) is None
    assert change(*plans, replaces="old") is not None


def test_another_plan_with_the_same_outline_is_a_change_without_a_difference():
    found = change(seen("a", -9, -1, BY_SORT), seen("b", 1, 9, BY_SORT))

    assert found is not None
    assert found.lost == found.gained == ()


def test_a_node_that_was_cut_is_neither_lost_nor_gained():
    long = "Append (Seq Scan part_1, Seq Scan part_2, Seq Sc…"

    found = change(seen("a", -9, -1, long), seen("b", 1, 9, "Seq Scan part_1"))

    assert found is not None
    assert found.lost == ("Append", "Seq Scan part_2")
    assert found.gained == ()
