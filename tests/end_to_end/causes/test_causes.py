"""A verdict on a real database names what may be behind it."""

from __future__ import annotations

import re

import pytest

from ..commands import evaluator, write
from ..recording import FEW
from .processors import CONTEXT
from .world import COMPUTING, SHORT_WINDOW, STATEMENTS, UNCHANGED, WINDOW

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


@pytest.fixture(scope="package")
def config(recording, tmp_path_factory):
    return write(tmp_path_factory.mktemp("causes"), recording.config)


@pytest.fixture(scope="package")
def judge(recording, config):
    """Judge a job by the command line; what was judged before is remembered."""
    known = {}

    def run(job, *, after=0.0, window=WINDOW):
        asked = (job, after, window)
        if asked not in known:
            known[asked] = evaluator(
                *("deploy", "--at", f"{recording.at + after:.3f}", "--service", job),
                *("--window", f"{window:g}s", "--format", "json"),
                config=config,
            )
        return known[asked]

    return run


def detected(ended):
    return {
        queryid
        for queryid, query in ended.queries.items()
        if query["verdict"] == "detected"
    }


def causes(query, *, external):
    """What kinds of causes are told, with their evidence."""
    return {
        cause["kind"]: cause["evidence"]
        for cause in query["external_causes"]
        if cause["external"] is external
    }


@pytest.mark.parametrize("job", STATEMENTS)
def test_every_statement_is_judged(judge, job):
    queries = judge(job).queries.values()

    assert len(queries) == len(STATEMENTS[job])
    assert {query["verdict"] for query in queries} <= {"detected", "no_regression"}


def test_a_dropped_index_is_told_as_the_plan_that_was_lost(recording, judge):
    ended = judge("index")

    assert detected(ended) == {recording.slowed}
    query = ended.queries[recording.slowed]
    change = query["plan_change"]
    assert "orders_store" in change["before"]
    assert "orders_store" not in change["after"]
    assert any("orders_store" in node for node in change["lost"])
    assert "Seq Scan orders" in change["gained"]
    assert causes(query, external=True) == {}


def test_explain_shows_the_lost_index_after_the_seven_steps(recording, config):
    ended = evaluator(
        *("explain", recording.slowed, "--deploy", f"{recording.at:.3f}"),
        *("--service", "index"),
        config=config,
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


def test_ten_times_the_rows_are_told_as_more_data(recording, judge):
    ended = judge("rows")

    assert detected(ended) == {recording.longer}
    query = ended.queries[recording.longer]
    told = causes(query, external=False)["rows_per_call"]
    before, now = map(float, re.findall(r"(?:from|to) ([\d.e+]+)", told))
    # The intervals around the deploy may hold calls of both kinds.
    assert now / before == pytest.approx(10, rel=0.2)
    assert told.endswith(": other data or other parameters")
    assert causes(query, external=True) == {}


def test_what_waits_for_a_hogged_processor_is_told_to_have_an_external_cause(judge):
    ended = judge("busy")

    slower = [q for q in ended.queries.values() if q["factor"] > 1.2]
    assert len(slower) > len(COMPUTING) / 2
    assert detected(ended) <= {query["queryid"] for query in slower}
    for query in slower:
        told = causes(query, external=True)
        assert told["common_shift"].endswith("blocks per call stayed the same")
        assert told["context"].startswith(tuple(CONTEXT))


def test_only_what_has_no_external_cause_alerts(recording, judge):
    shown = {
        (regressed["service"], regressed["queryid"], regressed["external_cause"])
        for regressed in recording.published.regressed
    }
    alerts = {
        (alert["labels"]["service"], alert["labels"]["queryid"])
        for alert in recording.published.alerts
    }

    assert alerts == {("index", recording.slowed), ("rows", recording.longer)}
    assert {one[:2] for one in shown if one[2] == "false"} == alerts
    assert {one[0] for one in shown if one[2] == "true"} <= {"busy"}


def test_each_alert_leads_to_the_dashboard_of_its_deploy(recording):
    published = recording.published
    board = f"{published.grafana}/d/pgverdict-deploys"

    linked = {
        alert["labels"]["service"]: alert["annotations"]["dashboard_url"]
        for alert in published.alerts
    }
    for service in ("index", "rows"):
        assert linked[service].startswith(f"{board}?var-service={service}&var-deploy=")


def test_the_annotation_says_whether_something_else_may_explain_it(recording):
    told = recording.published.told
    lost, hogged = told["index"], told["busy"]

    assert "Bitmap Index Scan orders_store and gained Seq Scan orders" in lost
    assert "external cause" not in lost
    if "slower after" in hogged.splitlines()[0]:
        assert "may have an external cause" in hogged.splitlines()[0]
        assert "; external cause: " in hogged
    for text in told.values():
        assert '<a href="/d/pgverdict-deploys?var-deploy=grafana-' in text


def test_reset_statistics_are_no_regression(judge):
    ended = judge("reset")

    assert ended.code == 0
    assert detected(ended) == set()
    assert {q["dropped"]["reset"] for q in ended.queries.values()} == {1}


@pytest.mark.parametrize("after", UNCHANGED)
def test_ten_deploys_that_change_nothing_are_no_regression(judge, after):
    ended = judge("quiet", after=after, window=SHORT_WINDOW)

    assert ended.code == 0
    assert detected(ended) == set()
    verdicts = [query["verdict"] for query in ended.queries.values()]
    assert verdicts == ["no_regression"] * len(FEW)
