"""Required sample sizes as a person and as a program read them."""

from __future__ import annotations

import json

from evaluator.model.sample_size import Noise, SampleSize, SampleSizeTable
from evaluator.sinks.sample_size import to_json, to_table
from tests.builders import KEY

NOISE = Noise(cv=0.3, phi=0.25, calls=40.0, spacing=15.0, key=KEY, name="usual query")
TABLE = SampleSizeTable(
    "calibrated",
    (
        (
            NOISE,
            (
                SampleSize(0.1, 0.05, 142, None, 0.4, 240),
                SampleSize(0.5, 0.2, 6, 15, 0.84, 240),
            ),
        ),
    ),
    (NOISE,),
    unmeasured=3,
)


def test_formula_and_simulation_stand_side_by_side():
    lines = to_table(TABLE).splitlines()

    assert lines[0].endswith("in four of five deploys, engine calibrated")
    assert lines[2] == (
        "usual query: interval means of CV 0.3, lag-1 correlation 0.25, "
        "40 calls every 15 s (app@shop on db1:9719, queryid -42)"
    )
    assert " ".join(lines[5].split()) == (
        "+50 % 6 240 90 s 15 600 3.75 min 84 % threshold 0.2"
    )


def test_a_rise_found_in_no_window_needs_more_than_the_longest():
    row = to_table(TABLE).splitlines()[4]

    assert "> 240" in row
    assert "> 60 min" in row
    assert "40 %" in row


def test_the_queries_that_could_not_be_measured_are_counted():
    assert "Queries measured: 1; with too few intervals to measure: 3" in to_table(
        TABLE
    )


def test_the_json_has_intervals_calls_and_seconds():
    document = json.loads(to_json(TABLE))

    missed, seen = document["rows"][0]["sample_sizes"]
    assert missed["simulated"] is None
    assert seen["simulated"] == {"intervals": 15, "calls": 600.0, "seconds": 225.0}
    assert seen["formula"] == {"intervals": 6, "calls": 240.0, "seconds": 90.0}
    assert document["measured"][0]["key"]["queryid"] == "-42"
    assert document["unmeasured"] == 3
