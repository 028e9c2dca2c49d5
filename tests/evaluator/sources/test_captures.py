"""Saved answers of Prometheus."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from evaluator.errors import ConfigurationError, SourceError
from evaluator.model import Surroundings
from evaluator.sources.captures import Capture
from evaluator.sources.profiles import PROFILES
from tests.queries import series_of

from ..prometheus_answers import (
    blocks,
    calls,
    matrix,
    rows,
    seconds,
    series,
    since,
    squares,
)

PROFILE = PROFILES["pgverdict"]
GOLDEN = Path(__file__).parents[2] / "golden" / "capture.json"
DEPLOY, WINDOW = 1790000000, 1800


@pytest.fixture
def capture(tmp_path):
    def write(content) -> str:
        path = tmp_path / "capture.json"
        raw = content if isinstance(content, bytes) else msgspec.json.encode(content)
        path.write_bytes(raw)
        return str(path)

    return write


def error(path, *times) -> str:
    with pytest.raises(SourceError) as caught:
        Capture(path, PROFILE).read(*times)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


def test_the_golden_capture_is_read_sample_by_sample():
    stored = json.loads(GOLDEN.read_text())["data"]["result"]

    found = Capture(str(GOLDEN), PROFILE).read(DEPLOY - WINDOW, DEPLOY + WINDOW)

    by_id = {one.key.queryid: one for one in series_of(found)}
    assert len(by_id) == 40
    for metric, column in ((PROFILE.calls, "calls"), (PROFILE.seconds, "seconds")):
        for stored_series in stored:
            if stored_series["metric"]["__name__"] != metric:
                continue
            one = by_id[stored_series["metric"]["queryid"]]
            values = dict(zip(one.times, getattr(one, column), strict=True))
            expected = {t: float(v) for t, v in stored_series["values"]}
            assert values.items() <= expected.items()
            assert len(expected) - len(values) <= 1
    # One NaN in 138, one scrape missing in 139; 131 begins before the window.
    assert found.quality.lone_samples == 2
    assert found.first == DEPLOY - WINDOW


def test_standard_input_is_a_capture_too(monkeypatch):
    body = msgspec.json.encode(matrix(calls((1, "1")), seconds((1, "2"))))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(body)))

    found = Capture("-", PROFILE).read()

    assert np.array_equal(series_of(found)[0].seconds, [2])


def test_warnings_in_a_capture_make_it_partial(capture):
    path = capture(matrix(calls((1, "1")), seconds((1, "2")), warnings=["cut"]))

    assert Capture(path, PROFILE).read().quality.warnings == ("cut",)


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path):
    with pytest.raises(
        ConfigurationError, match=r"nothing.json: cannot be read \(No such"
    ):
        Capture(str(tmp_path / "nothing.json"), PROFILE)


def test_a_folder_is_a_usage_error(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Capture(str(tmp_path), PROFILE)


def test_a_file_that_is_not_a_json_is_reported(capture):
    assert "something that is not JSON: hello" in error(capture(b"hello"))


def test_an_empty_matrix_is_reported(capture):
    assert "the matrix is empty" in error(capture(matrix()))


def test_names_of_another_exporter_are_reported_with_the_way_to_choose_them(capture):
    other = {"metric": {"__name__": "go_gc"}, "values": [[1, "1"]]}

    message = error(capture(matrix(other)))

    assert (
        "holds go_gc, but no pg_stat_statements_calls_total and no pg_stat" in message
    )
    assert "choose the profile (pgverdict, postgres_exporter)" in message


def test_a_capture_of_one_counter_is_reported_what_is_missing(capture):
    message = error(capture(matrix(calls((1, "1")))))

    assert "but no pg_stat_statements_seconds_total; capture" in message
    assert '{__name__=~"pg_stat_statements_calls_total|' in message


def test_a_deploy_time_outside_the_capture_is_reported_with_both_times(capture):
    samples = [(DEPLOY, "1"), (DEPLOY + 60, "2")]
    path = capture(matrix(calls(*samples), seconds(*samples), since((1, "0"))))

    assert error(path, 0, 3600).endswith(
        "has samples from 2026-09-21T14:13:20Z to 2026-09-21T14:14:20Z, but none from "
        "1970-01-01T00:00:00Z to 1970-01-01T01:00:00Z; is the deploy time right?"
    )


def test_series_without_any_sample_are_reported(capture):
    assert "its series hold no samples" in error(capture(matrix(calls(), seconds())))


def test_a_capture_may_hold_squares_rows_blocks_plans_fingerprints_and_starts(capture):
    samples = [(DEPLOY - 60, "1"), (DEPLOY + 60, "2")]
    ones = [(at, "1") for at, _ in samples]
    server = {"__name__": PROFILE.started, "instance": "db1:9719"}
    path = capture(
        matrix(
            calls(*samples),
            seconds(*samples),
            rows(*samples),
            squares(*samples),
            *blocks(hit=samples, read=samples),
            series(PROFILE.query_info, *ones, fingerprint="f1", query="select 1"),
            series(PROFILE.plan_info, ones[0], plan_id="a", plan="Seq Scan a"),
            series(PROFILE.plan_info, ones[1], plan_id="b", plan="Seq Scan b"),
            {"metric": server, "values": [[at, "77"] for at, _ in samples]},
        )
    )

    held = Capture(path, PROFILE)
    (query,) = series_of(held.read())
    found = held.surroundings()

    assert query.rows is not None
    assert query.blocks is not None
    assert query.squares is not None
    assert query.squares.tolist() == [1, 2]
    assert (query.rows.tolist(), query.blocks.tolist()) == ([1, 2], [2, 4])
    assert found.fingerprints == {query.key: "f1"}
    assert found.texts == {query.key: "select 1"}
    assert [one.outline for one in found.surroundings.plans] == [
        "Seq Scan a",
        "Seq Scan b",
    ]
    assert found.surroundings.starts[0].values.tolist() == [77, 77]
    assert found.notes == ()


def test_only_what_was_seen_in_the_windows_surrounds_the_deploy(capture):
    both = [(DEPLOY - 7200, "1"), (DEPLOY, "1")]
    path = capture(
        matrix(
            calls(*both),
            seconds(*both),
            series(PROFILE.plan_info, both[0], plan_id="a", plan="Seq Scan a"),
            series(PROFILE.query_info, both[0], fingerprint="f1"),
        )
    )

    found = Capture(path, PROFILE).surroundings(DEPLOY - WINDOW, DEPLOY + WINDOW)

    assert found.surroundings.plans == ()
    assert found.fingerprints == {}


def test_a_capture_of_the_counters_only_is_surrounded_by_nothing():
    found = Capture(str(GOLDEN), PROFILE).surroundings()

    assert found.surroundings == Surroundings()
    assert (found.fingerprints, found.notes) == ({}, ())
