"""One statement under two exporters is judged once, and reported."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.sources.readings import join

from ..prometheus_answers import calls, seconds, since
from .test_readings import reading

TIMES = np.arange(0, 900, 15.0)


def statement(
    number, *, offset=0.0, late=0.0, factor=1, times=TIMES, age=False, **labels
):
    """What an exporter shows of statement *number* of one busy server.

    Args:
        offset: seconds between the scrapes of two exporters; late: how long after the
            time of the scrape the counters were read.
    """
    at = TIMES + offset
    done = np.floor((at + late) * (number + 1) * factor / 3 + 100 * number)
    more = {"queryid": str(number), **labels}
    result = [
        calls(*((float(t), f"{c}") for t, c in zip(at, done, strict=True)), **more),
        seconds(
            *(
                (float(t), f"{c * 0.01 / (number + 1)}")
                for t, c in zip(at, done, strict=True)
            ),
            **more,
        ),
    ]
    if age:
        result.append(since(*((float(t), "7") for t in at), **more))
    return result


def shown(numbers, **more):
    return [one for number in numbers for one in statement(number, **more)]


OURS = {"instance": "db:9719", "job": "pgverdict"}
THEIRS = {"instance": "db:9187", "job": "postgres_exporter", "toplevel": ""}


@pytest.mark.parametrize("offset", [0.0, 0.4, 7.3, 14.9])
@pytest.mark.parametrize("late", [0.0, 0.9])
def test_another_exporter_of_the_same_server_is_left_out_and_named(offset, late):
    found = join(
        [
            reading(
                *shown(range(12), **OURS, age=True),
                *shown(range(8), **THEIRS, offset=offset, late=late),
            )
        ]
    )

    assert found.servers == {"db:9719"}
    assert sum(len(batch.keys) for batch in found.batches) == 12
    (note,) = found.events
    assert note == (
        'the same statements come twice: job="pgverdict", instance="db:9719" is used, '
        'job="postgres_exporter", instance="db:9187" is not; choose one with the '
        'selector, for example job="pgverdict"'
    )
    assert found.twins == (note,)


def test_two_exporters_under_one_instance_are_noticed_as_well():
    both = {"instance": "db"}
    found = join(
        [
            reading(
                *shown(range(5), **{**OURS, **both}),
                *shown(range(5), **{**THEIRS, **both}, offset=3.0),
            )
        ]
    )

    (batch,) = found.batches
    assert {key.toplevel for key in batch.keys} == {"true"}
    assert 'job="postgres_exporter" is not' in found.twins[0]


def test_one_exporter_scraped_by_two_jobs_and_a_third_is_judged_once():
    found = join(
        [
            reading(
                *shown(range(5), instance="a", job="x"),
                *shown(range(5), instance="b", job="y", offset=2.0),
                *shown(range(5), instance="c", job="z", offset=4.0),
            )
        ]
    )

    assert len(found.batches) == 1
    assert len(found.twins) == 2


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"factor": 2}, id="a standby with its own counters"),
        pytest.param({"datname": "other"}, id="another database"),
        pytest.param({"user": "other"}, id="another user"),
    ],
)
def test_another_server_with_the_same_statements_is_judged_too(other):
    found = join(
        [reading(*shown(range(8), **OURS), *shown(range(8), **{**THEIRS, **other}))]
    )

    assert found.servers == {"db:9719", "db:9187"}
    assert found.twins == ()


def test_statements_that_hardly_overlap_make_no_twins():
    found = join([reading(*shown(range(8), **OURS), *shown(range(7, 30), **THEIRS))])

    assert len(found.batches) == 2


def test_servers_at_different_times_are_different():
    found = join(
        [reading(*shown(range(8), **OURS), *shown(range(8), **THEIRS, offset=5000.0))]
    )

    assert found.twins == ()
