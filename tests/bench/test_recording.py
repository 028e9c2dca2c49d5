"""A recording: its schedule, its pages as a capture, and placebo deploys in it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bench.recording.pages import write_capture
from bench.recording.placebos import Placebo, placebos, report
from bench.recording.record import Plan, record
from bench.recording.schedule import HOUR, MINUTE, jobs, segments
from bench.recording.scripts import statements
from bench.recording.slowed import slowed
from evaluator.model import Settings
from evaluator.sources.captures import Capture
from tests.evaluator.history import PROFILE

SHORT = Settings(window=600.0, history=3600.0)
BEGAN = 1_790_000_000.0


def page(calls, seconds):
    lines = []
    for query in range(len(calls)):
        labels = f'{{datname="shop",user="app",queryid="{query}",toplevel="true"}}'
        lines += [
            f"pg_stat_statements_calls_total{labels} {calls[query]}",
            f"pg_stat_statements_seconds_total{labels} {seconds[query]}",
            f"pg_stat_statements_stats_since_seconds{labels} {BEGAN - 60.0}",
        ]
    return "\n".join(["# HELP pg_up …", "pg_up 1", *lines, ""])


@pytest.fixture
def recorded(tmp_path):
    """Pages of twelve queries; all of *factors* are slower from half of it on."""

    def write(minutes, factors=1.0, speed=1.0):
        rng = np.random.default_rng(4)
        calls, seconds = np.zeros(12), np.zeros(12)
        lines = []
        for number in range(int(minutes * 4) + 1):
            asked = BEGAN + number * 15.0 / speed
            content = page(calls, seconds)
            line = {"asked": asked, "speed": speed, "page": content}
            lines.append(json.dumps(line) + "\n")
            added = rng.poisson(50.0, 12)
            noise = np.exp(0.1 * rng.standard_normal(12))
            slower = factors if number >= minutes * 2 else 1.0
            calls, seconds = calls + added, seconds + 0.001 * added * noise * slower
        path = tmp_path / "recorded.jsonl"
        path.write_text("".join(lines))
        return path

    return write


def test_pages_become_what_prometheus_answers(recorded, tmp_path):
    capture = tmp_path / "capture.json"

    first, last = write_capture(recorded(5), capture)

    series = json.loads(capture.read_text())["data"]["result"]
    assert (first, last) == (BEGAN, BEGAN + 300.0)
    assert len(series) == 3 * 12
    assert all(len(one["values"]) == 21 for one in series)
    assert series[0]["metric"]["queryid"] == "0"
    assert series[0]["metric"]["instance"]


def test_a_time_lapse_is_dated_as_if_its_clock_ran_faster(recorded, tmp_path):
    capture = tmp_path / "capture.json"

    first, last = write_capture(recorded(5, speed=10.0), capture)

    assert last - first == pytest.approx(300.0)
    series = json.loads(capture.read_text())["data"]["result"]
    since = [one for one in series if "since" in one["metric"]["__name__"]]
    assert float(since[0]["values"][0][1]) == pytest.approx(BEGAN - 600.0)


def test_a_recording_that_was_cut_off_is_shorter(recorded, tmp_path):
    path = recorded(5)
    path.write_text(path.read_text()[:-40])

    _, last = write_capture(path, tmp_path / "capture.json")

    assert last == BEGAN + 285.0


def test_each_moment_with_a_window_on_both_sides_is_judged(recorded):
    found = list(placebos(recorded(45), SHORT, every=5 * MINUTE))

    assert [one.minutes for one in found] == [10, 15, 20, 25, 30, 35]
    assert all(one.judged == 12 for one in found)
    assert sum(one.alarms for one in found) == 0
    # Three windows of ten minutes.
    assert [one.long_history for one in found] == [False] * 4 + [True] * 2


def test_other_queries_are_slowed_at_each_moment_and_found(recorded):
    *_, last = placebos(recorded(45), SHORT, every=5 * MINUTE)

    assert last.slowed == last.found == 1


def test_what_a_slowed_query_did_before_stays_as_it_was(recorded, tmp_path):
    write_capture(recorded(10), tmp_path / "capture.json")
    reading = Capture(str(tmp_path / "capture.json"), PROFILE).read()
    (before,), at = reading.batches, BEGAN + 300.0

    (after,) = slowed(reading, ["3"], at).batches

    means = np.diff(after.seconds) / np.diff(before.seconds)
    row = [key.queryid for key in before.keys].index("3")
    assert means[row] == pytest.approx([1.0] * 20 + [1.5] * 20)
    assert np.delete(means, row, axis=0) == pytest.approx(1.0)


def test_what_really_got_slower_is_detected_at_that_moment(recorded):
    found = list(placebos(recorded(40, factors=2.0), SHORT, every=5 * MINUTE))

    (at_the_change,) = [one for one in found if one.minutes == 20]
    assert at_the_change.alarms == 12
    assert np.median(at_the_change.factors) == pytest.approx(2.0, abs=0.2)


def test_the_report_counts_per_thousand_queries_and_deploy():
    quiet = Placebo(30.0, 100, True, 0, 0, 0, ())
    loud = replace(quiet, minutes=35.0, alarms=3, alerts=1, looks=2, factors=(1.4,))
    loud = replace(loud, slowed=4, found=3)
    early = replace(quiet, long_history=False)

    printed = report([*[quiet] * 9, loud, early], "night")

    assert "### night" in printed
    assert "| 35 | long | 100 | 3 | 1 | 2 | ×1.40 |" in printed
    assert (
        "| long | 10 | 1,000 | 3.00 | 1.00 | 2.00 | ≤ 1 | **missed** | 0.75 |"
        in printed
    )
    assert "| short | 1 | 100 | 0.00 | 0.00 | 0.00 | ≤ 1 | reached | 0.00 |" in printed


def test_the_schedule_is_the_same_each_time_and_changes_the_load():
    parts = segments(3 * HOUR, 100.0, 0)

    assert parts == segments(3 * HOUR, 100.0, 0)
    assert parts != segments(3 * HOUR, 100.0, 1)
    rates = [part.rate for part in parts]
    assert max(rates) > 3 * min(rates)
    assert parts[-1].start + parts[-1].seconds >= 3 * HOUR


def test_every_kind_of_job_comes_within_three_hours():
    planned = jobs(3 * HOUR, 0)

    assert {job.name for job in planned} == {
        *("report", "vacuum", "lock", "backup", "dump", "bulk load")
    }
    assert [job.start for job in planned] == sorted(job.start for job in planned)


def test_there_are_enough_statements_for_common_factors():
    texts = [sql for sql, _ in statements()]

    assert len(set(texts)) == len(texts) >= 50


@pytest.mark.servers
def test_a_real_server_is_recorded(tmp_path):
    path = tmp_path / "pages.jsonl"

    record(path, Plan(seconds=6 * MINUTE, speed=30.0, rate=100.0, seed=0))

    first, last = write_capture(path, tmp_path / "capture.json")
    assert last - first == pytest.approx(6 * MINUTE, abs=30.0)
    series = json.loads((tmp_path / "capture.json").read_text())["data"]["result"]
    called = [
        one
        for one in series
        if one["metric"]["__name__"] == "pg_stat_statements_calls_total"
        and float(one["values"][-1][1]) > float(one["values"][0][1])
    ]
    assert len(called) > 40
