"""What a query is called for and does itself may explain its rise."""

import numpy as np
import pytest

from evaluator.engine.causes.kinds import find_causes
from evaluator.engine.causes.shifts import find_shifts
from evaluator.model import CauseKind, Surroundings
from tests.builders import deploy

from .suspects import (
    SETTINGS,
    causes,
    intervals,
    measure,
    sentence,
    slower,
    step,
    verdict,
)


def test_more_calls_of_the_query_are_a_note():
    (cause,) = causes(own=intervals(calls=step(60, 180, cv=0)))

    assert cause.kind is CauseKind.CALL_RATE
    assert not cause.external
    assert sentence(cause) == (
        "calls of the query per second rose at the deploy from 1 to 3"
    )


def test_fewer_calls_may_be_the_effect_of_a_longer_wait():
    (cause,) = causes(own=intervals(calls=step(180, 60)))

    assert cause.kind is CauseKind.CALL_RATE
    assert not cause.external
    assert sentence(cause).endswith("; may follow from the longer wait")


@pytest.mark.parametrize("ratio", [1.4, 1 / 1.4])
def test_a_usual_swing_of_traffic_is_not_a_cause(ratio):
    assert causes(own=intervals(calls=step(60, 60 * ratio))) == ()


def test_more_rows_per_call_are_data_or_parameters_and_not_external():
    calls = step(60, 60, seed=2)
    own = intervals(calls=calls, rows=calls * step(10, 100, cv=0))

    (cause,) = causes(own=own)

    assert cause.kind is CauseKind.ROWS_PER_CALL
    assert not cause.external
    assert sentence(cause) == (
        "rows per call rose at the deploy from 10 to 100: other data or other "
        "parameters"
    )


def test_more_blocks_per_call_are_not_contention():
    (cause,) = causes(own=intervals(blocks=40 * step(5, 500)))

    assert cause.kind is CauseKind.BLOCKS_PER_CALL
    assert not cause.external
    assert "not contention" in sentence(cause)


def test_unknown_rows_are_left_out():
    rows = 40 * step(10, 100)
    rows[::5] = np.nan

    assert len(causes(own=intervals(rows=rows))) == 1
    assert causes(own=intervals(rows=np.full(60, np.nan))) == ()


def test_a_busy_server_is_not_an_outside_cause_when_the_query_itself_works_more():
    """A dropped index: the query reads more, and that is why the CPU is busy."""
    own = intervals(blocks=40 * step(5, 500))

    context, blocks = causes(own=own, context=(measure(step(0.2, 0.9)),))

    assert context.kind is CauseKind.CONTEXT
    assert not context.external
    assert "may follow from the query, which does more work itself" in sentence(context)
    assert not blocks.external


def test_time_up_while_blocks_stay_the_same_is_called_contention():
    own = intervals(blocks=40 * step(5, 5))

    (cause,) = causes(own=own, context=(measure(step(0.2, 0.9, at=-2)),))

    assert cause.external
    assert sentence(cause).endswith(", while its blocks per call stayed the same")


def test_each_query_gets_its_own_causes():
    first, second = verdict(2.0, "1"), verdict(2.0, "2")
    both = [slower(first, intervals(calls=step(60, 180))), slower(second)]

    found = find_causes(both, deploy(), SETTINGS, Surroundings(), find_shifts)

    assert list(found) == [first.key]
