"""``backtest`` on the command line."""

from __future__ import annotations

import json
import os
import signal

import pytest

from lab.faults import Fault
from lab.grafana import Grafana
from lab.relay import Relay

from .running import run


def backtest(config, *more):
    return run("backtest", config, "--since=5h", "--every=20m", *more)


@pytest.mark.servers
def test_backtest_counts_the_false_alarms_of_each_engine(
    remembered, configured, capsys
):
    assert backtest(configured(remembered)) == 0

    output = capsys.readouterr()
    assert "backtest: 15 moments, every 20 min from" in output.out
    assert "calibrated" in output.out
    assert "classic" in output.out
    assert "queryid slow" in output.out
    assert "grafana is not configured" in output.out
    assert "done=15/15" in output.err


@pytest.mark.servers
def test_a_moment_near_a_known_deploy_is_left_out(remembered, configured, capsys, now):
    with Grafana() as grafana:
        grafana.post_deploy(at=now - 7200 + 30)

        assert backtest(configured(remembered, grafana), "--format=json") == 0

    document = json.loads(capsys.readouterr().out)
    assert document["near_deploys"] == 1
    assert document["false_alarms"] == []
    assert not any("grafana" in note for note in document["notes"])


@pytest.mark.servers
def test_backtest_tries_one_engine_where_one_is_named(remembered, configured, capsys):
    backtest(configured(remembered), "--engine=classic", "--looks", "--format=json")

    document = json.loads(capsys.readouterr().out)
    assert [result["engine"] for result in document["engines"]] == ["classic"]
    assert not any("judged once" in note for note in document["notes"])


@pytest.mark.servers
def test_a_history_that_is_not_kept_so_long_is_judged_as_far_as_it_goes(
    remembered, configured, capsys
):
    arguments = ("--since=9h", "--every=20m", "--format=json")
    assert run("backtest", configured(remembered), *arguments) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["judged"] == document["planned"] == 27
    assert document["empty"] > 5


@pytest.mark.servers
def test_an_interrupted_backtest_prints_what_is_known_so_far(
    remembered, configured, capsys
):
    def interrupt(number):
        if number == 12:
            os.kill(os.getpid(), signal.SIGINT)

    with Relay(remembered, watch=interrupt) as relay:
        assert backtest(configured(relay.url)) == 130

    assert "of 15 planned" in capsys.readouterr().out


@pytest.mark.servers
def test_a_server_that_fails_on_the_way_is_reported_after_what_is_known(
    remembered, configured, capsys
):
    refused = Fault(400, {"status": "error", "errorType": "x", "error": "too much"})

    def refuse(number):
        if number == 12:
            relay.faults.append(refused)

    with Relay(remembered, watch=refuse) as relay:
        assert backtest(configured(relay.url)) == 3

    output = capsys.readouterr()
    assert "of 15 planned" in output.out
    assert "too much" in output.err


def test_a_server_that_fails_at_once_leaves_nothing_to_print(configured, capsys):
    assert backtest(configured("http://127.0.0.1:9")) == 3

    output = capsys.readouterr()
    assert output.out == ""
    assert "prometheus" in output.err


@pytest.mark.servers
def test_a_prometheus_without_any_query_is_an_error(remembered, configured, capsys):
    assert backtest(configured(remembered, selector='job="nothing"')) == 3

    output = capsys.readouterr()
    assert output.out == ""
    assert "no sample of any query in the last 5 h" in output.err


def test_a_look_back_shorter_than_a_window_is_refused(configured, capsys):
    config = configured("http://127.0.0.1:9")

    assert run("backtest", config, "--since=9m") == 2

    assert "look further back, such as 7d" in capsys.readouterr().err


def test_a_history_full_of_deploys_leaves_nothing_to_judge(configured, capsys, now):
    with Grafana() as grafana:
        for ago in range(600, 5000, 300):
            grafana.post_deploy(at=now - ago)
        config = configured("http://127.0.0.1:9", grafana)

        assert run("backtest", config, "--since=1h", "--every=20m") == 2

    assert "each of the 3 moments" in capsys.readouterr().err
