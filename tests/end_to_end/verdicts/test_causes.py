"""A verdict on a real database names what may be behind it."""

from __future__ import annotations

import re

import pytest

from ..commands import evaluator
from ..recording.host import CONTEXT
from ..recording.jobs import FEW, LOADS, SHORT_WINDOW, WINDOW
from .conftest import detected

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

BACKEND = "prometheus-2"
# Moments at which nothing happened, minutes after the deploy of the others.
UNCHANGED = tuple(
    round((number - 4.5) / 4.5 * (WINDOW - SHORT_WINDOW), 1) for number in range(10)
)


def causes(query, *, external):
    """The kinds of causes that are named, with their evidence."""
    return {
        cause["kind"]: cause["evidence"]
        for cause in query["external_causes"]
        if cause["external"] is external
    }


@pytest.mark.parametrize("job", LOADS)
def test_every_statement_is_judged(judge, job):
    queries = judge(BACKEND, job).queries.values()

    assert len(queries) == len(LOADS[job].statements)
    assert {query["verdict"] for query in queries} <= {"detected", "no_regression"}


def test_a_dropped_index_is_reported_as_the_plan_that_was_lost(recording, judge):
    slowed = recording.truth.slowed
    ended = judge(BACKEND, "shop")

    assert detected(ended) == {slowed}
    query = ended.queries[slowed]
    change = query["plan_change"]
    assert "orders_store" in change["before"]
    assert "orders_store" not in change["after"]
    assert any("orders_store" in node for node in change["lost"])
    assert "Seq Scan orders" in change["gained"]
    assert causes(query, external=True) == {}


def test_explain_shows_the_lost_index_after_the_seven_steps(recording, configs):
    ended = evaluator(
        *("explain", recording.truth.slowed, "--deploy", f"{recording.truth.at:.3f}"),
        *("--service", "shop"),
        config=configs[BACKEND],
    )

    assert ended.code == 1
    lines = ended.output.splitlines()
    assert [line[0] for line in lines if line[1:2] == " " and line[0].isdigit()] == (
        list("1234567")
    )
    assert "verdict: detected at family, level alert" in lines
    assert "  - Bitmap Index Scan orders_store" in lines
    assert "  + Seq Scan orders" in lines
    assert "external cause" not in ended.output


def test_ten_times_the_rows_are_reported_as_more_data(recording, judge):
    longer = recording.truth.longer
    ended = judge(BACKEND, "rows")

    assert detected(ended) == {longer}
    query = ended.queries[longer]
    evidence = causes(query, external=False)["rows_per_call"]
    before, now = map(float, re.findall(r"(?:from|to) ([\d.e+]+)", evidence))
    assert now / before == pytest.approx(10)
    assert evidence.endswith(": other data or other parameters")
    assert causes(query, external=True) == {}


def test_what_waits_for_the_processor_is_reported_with_an_external_cause(judge):
    ended = judge(BACKEND, "hosted")

    assert detected(ended) <= ended.queries.keys()
    for query in ended.queries.values():
        assert query["factor"] > 1.5
        together = causes(query, external=False)["common_shift"]
        assert together.endswith("blocks per call stayed the same")
        before = causes(query, external=True)["context"]
        assert before.startswith(tuple(CONTEXT))
        assert "min before the deploy" in before


def test_reset_statistics_raise_no_alarm(judge):
    ended = judge(BACKEND, "reset")

    assert ended.code == 0
    assert detected(ended) == set()
    assert {q["dropped"]["reset"] for q in ended.queries.values()} == {1}


@pytest.mark.parametrize("after", UNCHANGED)
def test_ten_deploys_that_change_nothing_raise_no_alarm(judge, after):
    ended = judge(BACKEND, "quiet", after=after, window=SHORT_WINDOW)

    assert ended.code == 0
    assert detected(ended) == set()
    verdicts = [query["verdict"] for query in ended.queries.values()]
    assert verdicts == ["no_regression"] * len(FEW)
