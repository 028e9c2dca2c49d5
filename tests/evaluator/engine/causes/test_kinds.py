"""What else moved at the same moment, and whether it speaks against the deploy."""

from dataclasses import replace

import numpy as np
import pytest

from evaluator.engine.causes.kinds import find_causes
from evaluator.model import CauseKind, ContextSeries, Outcome, Surroundings
from tests.builders import DEPLOY_AT, deploy

from .suspects import (
    MINUTES,
    SETTINGS,
    causes,
    measure,
    sentence,
    siblings,
    starts,
    step,
    verdict,
)


def test_a_rise_alone_has_no_cause():
    assert causes(*siblings(1.0, 0.9, 1.1)) == ()


def test_most_other_queries_slower_by_over_half_as_much_are_a_common_shift():
    (cause,) = causes(*siblings(1.5, 1.6, 1.0))

    assert cause.kind is CauseKind.COMMON_SHIFT
    assert not cause.external
    assert sentence(cause) == (
        "2 of 3 other queries of the server got slower by more than half as much, too "
        "(median factor 1.50)"
    )


@pytest.mark.parametrize(
    "factors", [(1.4, 1.4, 1.4), (1.5, 1.5, 1, 1), (1.5, 1.5)], ids=str
)
def test_a_weak_or_a_minority_s_rise_is_not_a_common_shift(factors):
    assert causes(*siblings(*factors)) == ()


def test_queries_that_regressed_with_it_count_as_others():
    assert causes(*siblings(2.0, 2.0, 2.0, 2.0))[0].kind is CauseKind.COMMON_SHIFT


def test_queries_of_another_server_do_not():
    elsewhere = [
        replace(one, key=replace(one.key, instance="db2:9719"))
        for one in siblings(2.0, 2.0, 2.0, 2.0)
    ]

    assert causes(*elsewhere) == ()


def test_the_common_rise_of_the_calibration_is_a_common_shift():
    (cause,) = causes(rise=1.5)

    assert cause.kind is CauseKind.COMMON_SHIFT
    assert "share an abrupt rise by a factor 1.50" in sentence(cause)
    assert causes(rise=1.3) == ()


def test_a_measure_of_the_server_that_jumps_at_the_deploy_is_named_with_its_levels():
    (cause,) = causes(context=(measure(step(0.2, 0.9, at=1, cv=0)),))

    assert cause.kind is CauseKind.CONTEXT
    assert not cause.external
    assert sentence(cause) == "cpu changed 1.0 min after the deploy from 0.2 to 0.9"


@pytest.mark.parametrize(
    ("measure_at", "query_at", "external"),
    [
        # Before the deploy, whenever the query changed.
        (-1, 0, True),
        (-5, -5, True),
        (-5, 3, True),
        # After the deploy, but clearly before the query.
        (1, 5, True),
        # With the deploy, with the query, or after it: the deploy may be the cause.
        (0, 0, False),
        (0, 2, False),
        (3, 4, False),
        (4, 1, False),
    ],
)
def test_only_a_measure_that_changed_first_is_external(measure_at, query_at, external):
    (cause,) = causes(
        of=verdict(2.0, at=query_at),
        context=(measure(step(0.2, 0.9, at=measure_at, cv=0)),),
    )

    assert cause.external == external
    assert not cause.may_follow


def test_a_measure_that_falls_counts_and_so_does_one_that_was_zero():
    appeared = measure(np.where(MINUTES < 0, 0.0, 3.0), name="vacuums")

    found = causes(context=(measure(step(8, 5), name="memory"), appeared))

    assert [sentence(one).split()[0] for one in found] == ["memory", "vacuums"]


@pytest.mark.parametrize(
    "values",
    [
        step(1, 1),
        step(1, 1.15, cv=0.01),
        step(1, 3, at=-15),
        step(1, 1.3, cv=0.8),
        np.where(MINUTES == 0, 50.0, 1.0),
    ],
    ids=["flat", "small", "elsewhere", "lost-in-noise", "one-peak"],
)
def test_a_measure_without_a_lasting_jump_near_the_deploy_explains_nothing(values):
    assert causes(context=(measure(values),)) == ()


def test_measures_of_other_servers_and_outside_the_windows_are_ignored():
    days = ContextSeries("cpu", "", DEPLOY_AT + 3600 * MINUTES, step(1, 9))

    found = causes(context=(measure(step(1, 9), instance="db2:9719"), days))

    assert found == ()


def test_values_that_are_not_numbers_are_ignored():
    values = step(0.2, 0.9)
    values[::7] = np.nan

    assert len(causes(context=(measure(values),))) == 1


def test_a_background_change_is_compared_with_its_own_moment():
    earlier = verdict(2.0, at=-15, outcome=Outcome.BACKGROUND_CHANGE)
    context = (measure(step(1, 5, at=-15)),)

    assert causes(context=context) == ()
    assert "15.0 min before the deploy" in sentence(
        causes(of=earlier, context=context)[0]
    )


def test_a_restart_between_two_scrapes_is_reported_once_with_its_moment():
    restarted = starts(-999, -999, 0.5, 0.5)

    (cause,) = causes(starts=(restarted, restarted))

    assert cause.kind is CauseKind.RESTART
    assert not cause.external
    assert sentence(cause) == "the server restarted 0.5 min after the deploy"


def test_another_start_long_ago_is_another_server():
    (cause,) = causes(starts=(starts(-999, -999, -500, -500),))

    assert cause.kind is CauseKind.RESTART
    assert sentence(cause) == "another server answers, first seen at the deploy"


@pytest.mark.parametrize(
    "series",
    [
        starts(-999, -999, -999, -999),
        starts(-999, -998.99, -999, -999),
        starts(-999, -999, -0.5, -0.5, instance="db2:1"),
    ],
    ids=["one-start", "rounded", "another-server"],
)
def test_no_restart_is_invented(series):
    assert causes(starts=(series,)) == ()


def test_other_deploys_in_the_windows_are_reported_nearest_to_the_change_first():
    one = verdict(2.0, at=3)
    others = (
        replace(deploy(DEPLOY_AT - 600), id="early"),
        replace(deploy(DEPLOY_AT + 240), id="late", service="cart", version="7"),
        replace(deploy(DEPLOY_AT + 1900), id="outside"),
        deploy(),
    )

    found = causes(of=one, deploys=others)

    assert [cause.kind for cause in found] == [CauseKind.OTHER_DEPLOY] * 2
    assert sentence(found[0]) == (
        "another deploy, cart 7, 4.0 min after the deploy, 1.0 min from the change"
    )
    assert "shop, 10.0 min before the deploy, 13.0 min" in sentence(found[1])


@pytest.mark.parametrize(
    ("minutes", "external"), [(4, True), (3, True), (0, False), (-1, False)]
)
def test_only_a_deploy_that_is_nearer_to_the_change_speaks_against_this_one(
    minutes, external
):
    """Or of two deploys nobody would be alerted to either."""
    other = replace(deploy(DEPLOY_AT + 60 * minutes), id="other")

    (cause,) = causes(of=verdict(2.0, at=3), deploys=(other,))

    assert cause.external is external


def test_no_suspect_asks_for_no_search():
    def never(measures):
        raise AssertionError

    assert find_causes([], deploy(), SETTINGS, Surroundings(), never) == {}
