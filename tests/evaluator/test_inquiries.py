"""``calibrate``, ``power`` and ``explain`` on the command line."""

from __future__ import annotations

import json
import os
import signal
import time

import numpy as np
import pytest

from evaluator.cli import main
from evaluator.units import show_time
from lab.faults import Fault
from lab.grafana import Grafana
from tests.builders import DEPLOY_AT, counters, noise
from tests.evaluator.history import capture_of, remembering
from tests.evaluator.test_golden import GOLDEN
from tests.evaluator.test_stretches import cut_of

CAPTURE = ("--capture", str(GOLDEN / "capture.json"))
DEPLOY = ("--deploy-time", "1790000000")
# Short windows, so that a few hours of history hold many moments.
ENGINE = "engine: {window: 10m, min_samples: 5, history: 30m}\n"


@pytest.fixture(scope="module")
def now():
    return float(round(time.time()))


@pytest.fixture(scope="module")
def series(now):
    """Thirty queries over the last six hours; the last one got slower 2 h ago."""
    rng = np.random.default_rng(1)
    found = [
        counters(0.01 * noise(rng, 360, 0.05), queryid=str(n), at=now - 3 * 3600)
        for n in range(29)
    ]
    step = np.where(np.arange(360) < 240, 1.0, 3.0)
    means = 0.02 * noise(rng, 360, 0.05) * step
    return [*found, counters(means, queryid="slow", at=now - 3 * 3600)]


@pytest.fixture
def configured(tmp_path):
    """Writes a configuration for these addresses; gives the argument."""

    def write(prometheus, grafana=None):
        lines = f"prometheus: {{url: '{prometheus}', timeout: 5s}}\n" + ENGINE
        if grafana is not None:
            token = tmp_path / "token"
            token.write_text(grafana.add_token("Editor"))
            lines += f"grafana: {{url: '{grafana.url}', token_file: {token}}}\n"
        path = tmp_path / "evaluator.yml"
        path.write_text(lines)
        return f"--config.file={path}"

    return write


def run(*arguments):
    """The exit code, argparse's own exits included."""
    try:
        return main(arguments)
    except SystemExit as stop:
        return stop.code


def calibrate(config, *more):
    return run("calibrate", config, "--since=5h", "--every=20m", *more)


def test_calibrate_tells_how_often_each_engine_would_have_cried(
    series, configured, capsys
):
    with remembering(series) as url:
        assert calibrate(configured(url)) == 0

    output = capsys.readouterr()
    assert "placebo check: 15 moments, every 20 min from" in output.out
    assert "calibrated" in output.out
    assert "classic" in output.out
    assert "queryid slow" in output.out
    assert "grafana is not configured" in output.out
    assert "done=15/15" in output.err


def test_a_moment_near_a_known_deploy_is_left_out(series, configured, capsys, now):
    with remembering(series) as url, Grafana() as grafana:
        grafana.post_deploy(at=now - 7200 + 30)

        assert calibrate(configured(url, grafana), "--format=json") == 0

    document = json.loads(capsys.readouterr().out)
    assert document["near_deploys"] == 1
    assert document["cries"] == []
    assert not any("grafana" in note for note in document["notes"])


def test_calibrate_asks_one_engine_where_one_is_named(series, configured, capsys):
    with remembering(series) as url:
        calibrate(configured(url), "--engine=classic", "--looks", "--format=json")

    document = json.loads(capsys.readouterr().out)
    assert [record["engine"] for record in document["records"]] == ["classic"]
    assert not any("judged once" in note for note in document["notes"])


def test_a_history_that_is_not_kept_so_long_is_judged_as_far_as_it_goes(
    series, configured, capsys
):
    with remembering(series) as url:
        arguments = ("--since=9h", "--every=20m", "--format=json")
        assert run("calibrate", configured(url), *arguments) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["judged"] == document["planned"] == 27
    assert document["empty"] > 5


def test_an_interrupted_check_prints_what_is_known_so_far(series, configured, capsys):
    def interrupt(number):
        if number == 12:
            os.kill(os.getpid(), signal.SIGINT)

    with remembering(series, interrupt) as url:
        assert calibrate(configured(url)) == 130

    assert "of 15 planned" in capsys.readouterr().out


def test_a_server_that_fails_on_the_way_is_told_after_what_is_known(
    series, configured, capsys
):
    refused = Fault(400, {"status": "error", "errorType": "x", "error": "too much"})

    with remembering(series, lambda n: refused if n > 12 else None) as url:
        assert calibrate(configured(url)) == 3

    output = capsys.readouterr()
    assert "of 15 planned" in output.out
    assert "too much" in output.err


def test_a_server_that_fails_at_once_leaves_nothing_to_print(configured, capsys):
    assert calibrate(configured("http://127.0.0.1:9")) == 3

    output = capsys.readouterr()
    assert output.out == ""
    assert "prometheus" in output.err


def test_a_prometheus_without_any_query_is_no_clean_record(configured, capsys):
    with remembering([]) as url:
        assert calibrate(configured(url)) == 3

    output = capsys.readouterr()
    assert output.out == ""
    assert "no sample of any query in the last 5 h" in output.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("calibrate",), "--since"),
        (("calibrate", "--since=long"), "a duration such as 30m"),
        (("power", "--cv=0"), "a number above 0 such as 0.3"),
        (("power", "--cv=noisy"), "a number above 0 such as 0.3"),
        (("power", "--cv=0.3", "--phi=1"), "between -1 and 1"),
        (("power", "--cv=0.3", *CAPTURE), "not allowed with"),
        (("power", "--capture=nowhere.json"), "nowhere.json"),
        (("explain",), "QUERYID"),
        (("explain", "101"), "--deploy"),
        (("explain", "101", *CAPTURE, "--deploy=grafana-1"), "a capture knows no ids"),
        (
            ("explain", "101", *CAPTURE, "--deploy=1790000000000"),
            "did you mean 1790000000?",
        ),
        (
            ("explain", "7", *CAPTURE, *DEPLOY),
            "no query 7 around this deploy; the costliest are",
        ),
    ],
)
def test_wrong_usage_is_exit_code_2_and_says_what_would_be_right(
    arguments, said, capsys
):
    assert run(*arguments) == 2

    output = capsys.readouterr()
    assert said in output.err
    assert output.out == ""


def test_a_look_back_shorter_than_a_window_is_refused(configured, capsys):
    config = configured("http://127.0.0.1:9")

    assert run("calibrate", config, "--since=9m") == 2

    assert "look further back, such as 7d" in capsys.readouterr().err


def test_a_history_full_of_deploys_leaves_nothing_to_judge(configured, capsys, now):
    with Grafana() as grafana:
        for ago in range(600, 5000, 300):
            grafana.post_deploy(at=now - ago)
        config = configured("http://127.0.0.1:9", grafana)

        assert run("calibrate", config, "--since=1h", "--every=20m") == 2

    assert "each of the 3 moments" in capsys.readouterr().err


def test_power_needs_no_server_when_the_noise_is_given(capsys):
    arguments = ("--cv=0.1", "--calls=50", "--phi=0.2", "--interval=15s")

    assert run("power", *arguments, "--engine=classic", "--format=json") == 0

    document = json.loads(capsys.readouterr().out)
    (row,) = document["rows"]
    assert row["noise"]["spacing"] == 15
    assert [price["rise"] for price in row["prices"]] == [0.1, 0.2, 0.5]
    assert [price["asymptotic"]["intervals"] for price in row["prices"]] == [16, 4, 2]
    assert row["prices"][2]["simulated"]["seconds"] == 150


def test_power_measures_a_quiet_a_usual_and_a_noisy_query_of_a_capture(capsys):
    assert run("power", *CAPTURE, "--engine=classic") == 0

    output = capsys.readouterr().out
    for kind in ("quiet query: CV", "usual query: CV", "noisy query: CV"):
        assert kind in output
    assert "on db1:9187, queryid" in output


def test_power_measures_in_prometheus(series, configured, capsys):
    with remembering(series) as url:
        config = configured(url)
        arguments = ("--since=1h", "--engine=classic", "--format=json")
        assert run("power", config, *arguments) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["engine"] == "classic"
    assert len(document["measured"]) == 30
    assert document["rows"][1]["noise"]["cv"] == pytest.approx(0.05, rel=0.3)


def test_power_without_enough_intervals_asks_for_more(series, configured, capsys):
    with remembering(series) as url:
        assert run("power", configured(url), "--since=10m") == 3

    assert "look further back with --since" in capsys.readouterr().err


def test_explain_shows_a_query_of_a_capture(capsys):
    assert run("explain", "101", *CAPTURE, *DEPLOY) == 1

    output = capsys.readouterr().out
    assert output.startswith("app@shop on db1:9187, queryid 101\n")
    assert "7 family" in output
    assert "note: fewer than 90 min of history" in output


def test_explain_ends_with_0_for_a_query_that_is_not_named(capsys):
    assert run("explain", "102", *CAPTURE, *DEPLOY, "--engine=classic") == 0

    assert "verdict: no_regression at prefilter" in capsys.readouterr().out


def test_a_query_whose_id_changed_is_found_by_both_ids(tmp_path, capsys):
    rng = np.random.default_rng(2)
    old, new = (
        counters(mean * noise(rng), queryid=queryid)
        for mean, queryid in ((0.01, "111"), (0.02, "222"))
    )
    capture = tmp_path / "capture.json"
    whole = [cut_of(old, 0.0, DEPLOY_AT), cut_of(new, DEPLOY_AT, np.inf)]
    capture.write_text(capture_of(whole, {"111": "same", "222": "same"}))
    arguments = ("--capture", str(capture), f"--deploy-time={DEPLOY_AT:.0f}")

    codes = [run("explain", queryid, *arguments) for queryid in ("111", "222")]

    output = capsys.readouterr().out
    assert codes == [1, 1]
    assert output.count("query id: was 111 before the deploy; followed as one") == 2
    assert output.count("29 intervals and 1160 calls before, 30 and 1200 after") == 2


def test_explain_fits_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")

    run("explain", "101", *CAPTURE, "--deploy=2026-09-21T14:13:20Z")

    plot = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert max(map(len, plot)) == 60


def test_explain_takes_the_time_of_a_deploy(series, configured, capsys, now):
    with remembering(series) as url:
        config, moment = configured(url), show_time(now - 7200)
        assert run("explain", "slow", config, "--deploy", moment) == 1

    assert "verdict: detected at family, level alert" in capsys.readouterr().out


def test_explain_takes_the_id_of_a_deploy(series, configured, capsys, now):
    with remembering(series) as url, Grafana() as grafana:
        number = grafana.post_deploy(at=now - 7200)
        config = configured(url, grafana)

        assert run("explain", "slow", config, f"--deploy=grafana-{number}") == 1

    assert "deploy shop production at" in capsys.readouterr().out


def test_an_id_that_is_not_known_names_the_nearest(configured, capsys, now):
    with Grafana() as grafana:
        number = grafana.post_deploy(at=now - 7200)
        config = configured("http://127.0.0.1:9", grafana)

        assert run("explain", "slow", config, f"--deploy=grafna-{number}") == 2

    error = capsys.readouterr().err
    assert f'did you mean "grafana-{number}"?' in error


def test_an_id_without_any_deploy_says_that_there_was_none(configured, capsys):
    with Grafana() as grafana:
        config = configured("http://127.0.0.1:9", grafana)

        assert run("explain", "slow", config, "--deploy=grafana-1") == 2

    assert "there was none" in capsys.readouterr().err


def test_a_window_that_is_still_open_is_not_explained(configured, capsys, now):
    config = configured("http://127.0.0.1:9")

    assert run("explain", "slow", config, "--deploy", f"{now - 60:.0f}") == 2

    assert "--deploy: the window after" in capsys.readouterr().err
