"""``explain``: one verdict on the command line."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.units import show_time
from lab.grafana import Grafana
from tests.builders import DEPLOY_AT, counters, noise
from tests.evaluator.backtest.test_rolling import cut_of
from tests.evaluator.history import capture_of

from .running import CAPTURE, DEPLOY, run


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


@pytest.mark.servers
def test_explain_takes_the_time_of_a_deploy(remembered, configured, capsys, now):
    config, moment = configured(remembered), show_time(now - 7200)
    assert run("explain", "slow", config, "--deploy", moment) == 1

    assert "verdict: detected at family, level alert" in capsys.readouterr().out


@pytest.mark.servers
def test_explain_takes_the_id_of_a_deploy(remembered, configured, capsys, now):
    with Grafana() as grafana:
        number = grafana.post_deploy(at=now - 7200)
        config = configured(remembered, grafana)

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
