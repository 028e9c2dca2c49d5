"""The seven steps: every number, the threshold beside it, and where it stopped."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from evaluator.engine import DETECTORS
from evaluator.model import Cause, CauseKind, Level, PlanChange, Report, Settings, Shift
from evaluator.sinks.explanation import explain_verdict
from evaluator.sources.captures import Capture
from evaluator.sources.profiles import PROFILES
from tests.builders import DEPLOY_AT, counters, deploy, finding, judged, noise
from tests.evaluator.test_golden import EXPECTED, GOLDEN
from tests.queries import interval_means, series_of

STEPS = ["intervals", "floors", "pre-filter", "split", "tolerance", "test", "family"]
SETTLED_BY = {"floors": 2, "prefilter": 3, "edivisive": 4, "tolerance": 5, "welch": 6}


def explained(series, engine="calibrated", queryid="-42", at=DEPLOY_AT, **fields):
    settings = Settings(engine=engine)
    verdicts = judged(series, deploy(at=at), settings)
    report = Report(deploy(at=at), at + 1900, settings, verdicts)
    (verdict,) = [one for one in verdicts if one.key.queryid == queryid]
    (one,) = [one for one in series if one.key.queryid == queryid]
    (intervals,) = interval_means([one], at - 1800, at + 1800, max_gap=300)
    verdict = replace(verdict, **fields)
    checks = DETECTORS[engine].explain(verdict, settings)
    return explain_verdict(verdict, checks, intervals, report, width=80)


def slower(factor=1.5, change=0, **more):
    """One query that gets slower *change* intervals after the deploy."""
    step = np.where(np.arange(60) < 30 + change, 1.0, factor)
    return counters(0.01 * noise(np.random.default_rng(1)) * step, **more)


def steps_of(text):
    """Number → its lines as one."""
    found: dict[int, str] = {}
    number = 0
    for line in text.split("\n\n")[-2].splitlines():
        started = re.match(r"(\d) ([\w-]+) +", line)
        if started:
            number = int(started[1])
            assert started[2] == STEPS[number - 1]
        found[number] = found.get(number, "") + " " + line[14:]
    return found


@pytest.fixture(scope="module")
def golden():
    capture = Capture(str(GOLDEN / "capture.json"), PROFILES["pgverdict"])
    return series_of(capture.read())


@pytest.mark.parametrize(
    "expected", EXPECTED["queries"], ids=lambda query: query["queryid"]
)
def test_the_stage_that_settled_it_is_the_first_that_did_not_pass(expected, golden):
    steps = steps_of(
        explained(golden, "classic", expected["queryid"], EXPECTED["deploy_time"])
    )

    settled = SETTLED_BY[expected["stage"]]
    assert [*steps] == [1, 2, 3, 4, 5, 6, 7]
    for number in range(2, 7):
        if number < settled:
            assert steps[number].endswith(": passed")
        elif number > settled:
            assert steps[number].endswith(": not reached")
    last = "passed" if expected["verdict"] == "detected" else "stopped here"
    assert steps[settled].endswith(f": {last}")


def test_each_number_stands_beside_its_threshold():
    steps = steps_of(explained([slower()], "classic"))

    assert "60 usable; dropped: none" in steps[1]
    assert "30 intervals and 1200 calls before, 30 and 1200 after" in steps[2]
    assert "needs 10 intervals, 100 calls, on each side" in steps[2]
    assert re.search(r"ms before, .* ms after: ×1\.\d+ needs ×1\.2 or more", steps[3])
    assert "best before interval 31 of 60, at 2026-09-21T14:13:20Z" in steps[4]
    assert "Q = " in steps[4]
    assert "needs Q above 0" in steps[4]
    assert "at the deploy needs at most 6 min" in steps[5]
    assert "degrees of freedom" in steps[6]
    assert "needs nominal p ≤ 0.05, upward" in steps[6]
    assert "judges each query alone" in steps[7]


def test_the_calibrated_engine_shows_p_and_q_of_the_family():
    others = [slower(1.0, queryid=str(number)) for number in range(4)]

    text = explained([slower(), *others])

    steps = steps_of(text)
    assert "that without a change the whole rule finds as much" in steps[6]
    assert "neighbours correlate by" in steps[6]
    assert "too small since the split was searched" in steps[6]
    assert re.search(r"q-value = \S+; queries past the floors: 5", steps[7])
    assert steps[7].endswith("≤ 0.2 for the watch list: passed")
    assert "verdict: detected at family, level alert" in text
    assert re.search(r"costs: ×1\.\d+ \(95 %: ×1\.\d+ to ×1\.\d+\)", text)
    assert "nothing changed: probability at least" in text


@pytest.mark.parametrize("known", [True, False])
def test_it_shows_what_weighed_the_intervals_and_what_was_left_out(known):
    significance = finding(Level.ALERT).significance
    assert significance is not None
    known_significance = replace(significance, by_dispersion=known, transient=known)

    test = steps_of(explained([slower()], significance=known_significance))[6]

    assert ("by the number of their calls and by their dispersion" in test) is known
    assert ("by the number of their calls; the dispersion" in test) is not known
    assert ("the first 6 min were slower than the rest: a transient" in test) is known


def test_the_distance_from_the_deploy_has_a_side():
    after = steps_of(explained([slower(change=3)], "classic"))[5]
    before = steps_of(explained([slower(change=-3)], "classic"))[5]

    assert "3 min after the deploy" in after or "180 s after" in after
    assert "before the deploy" in before


def test_dropped_intervals_are_counted_by_reason():
    calls = np.full(60, 40.0)
    calls[5] = 0.0

    steps = steps_of(explained([counters(np.full(60, 0.01), calls)]))

    assert "59 usable; dropped: 1 idle" in steps[1]


def test_what_is_missing_is_the_verdict():
    text = explained([counters(np.full(60, 0.01), 1.0)])

    assert "insufficient_data at floors: 30 of 100 calls before the deploy" in text
    assert "none; queries past the floors: 0" in text


def test_a_query_that_never_took_time_has_nothing_to_draw():
    assert "(no usable interval to draw)" in explained([counters(np.zeros(60))])


def test_causes_are_marked_as_external_or_not():
    causes = (
        Cause(CauseKind.RESTART, external=True, at=DEPLOY_AT + 30),
        Cause(
            CauseKind.ROWS_PER_CALL,
            external=False,
            shift=Shift(DEPLOY_AT, 1.0, 10.0, 1e-9),
        ),
    )

    text = explained([slower()], causes=causes)

    assert "external cause: the server restarted 0.5 min after the deploy" in text
    assert "note: rows per call rose at the deploy from 1 to 10: other data" in text


def test_a_changed_plan_is_shown_as_lost_and_gained():
    change = PlanChange(
        before="Index Scan orders using orders_pkey",
        after="Seq Scan orders",
        lost=("index orders_pkey",),
        gained=("Seq Scan orders",),
    )

    text = explained([slower()], plan_change=change)

    assert "plan before: Index Scan orders using orders_pkey" in text
    assert "  - index orders_pkey" in text
    assert "  + Seq Scan orders" in text
    assert "generic plans are estimates" in text


def test_a_new_query_id_is_shown():
    assert "query id: was 17 before the deploy" in explained([slower()], replaces="17")


def test_the_deploy_is_named():
    text = explained([slower()])

    assert text.splitlines()[0] == "app@shop on db1:9719, queryid -42"
    assert "deploy shop at 2026-09-21T14:13:20Z, 30 min before and after" in text


def test_the_plot_is_there():
    text = explained([slower()])

    assert "deploy" in text
    assert text.count("•") > 40
    assert "^ change" in text


def test_the_expected_numbers_are_the_shown_ones(golden):
    """Seen from the other side: what a person reads agrees with the golden numbers."""
    (expected,) = [q for q in EXPECTED["queries"] if q["queryid"] == "101"]

    text = explained(golden, "classic", "101", EXPECTED["deploy_time"])

    assert f"×{expected['factor']:.4g}" in text
    assert f"Welch's t = {expected['t']:.4g} with {expected['nu']:.4g}" in text
    assert f"nominal p = {expected['p_nominal']:.3g}" in text
    assert json.dumps(expected["split"] + 1) in text
