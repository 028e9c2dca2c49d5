"""The command line: help that teaches, exit codes that can be relied on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest

from evaluator.transport import client as http

from .commands.running import CAPTURE as INSTEAD
from .commands.running import DEPLOY, run
from .commands.running import GOLDEN_CAPTURE as CAPTURE


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A configuration whose systems are not there; nobody waits for these."""
    monkeypatch.setattr(http, "FIRST_WAIT", 0.0)
    path = tmp_path / "evaluator.yml"
    path.write_text(
        "prometheus: {url: 'http://127.0.0.1:9', timeout: 1s}\n"
        "grafana: {url: 'http://127.0.0.1:9', timeout: 1s}\n"
    )
    return f"--config.file={path}"


WORDS = ["run", "check", "deploy", "replay", "explain", "backtest", "power"]


def test_the_help_lists_every_command_with_what_it_does(capsys):
    assert run("--help") == 0

    text = capsys.readouterr().out
    assert re.findall(r"^    (\w+)", text, re.MULTILINE) == WORDS
    assert "+20, +50 %." in text


@pytest.mark.parametrize("command", WORDS)
def test_the_help_of_a_command_shows_its_exit_codes_and_an_example(command, capsys):
    assert run(command, "--help") == 0

    text = capsys.readouterr().out
    assert "Exit codes: 0" in text
    assert re.search(rf"Example:\n(.*\n)?  pgverdict-evaluator {command} ", text)


def test_a_regression_is_exit_code_1(capsys):
    assert run("replay", CAPTURE, *DEPLOY) == 1

    assert "23 detected" in capsys.readouterr().out


def test_nothing_detected_is_exit_code_0(capsys):
    quiet = ("--deploy-time", "1789998800", "--window=10m", "--max-unjudged=0.2")
    assert run("replay", CAPTURE, *quiet) == 0

    assert "clear: no query found slower" in capsys.readouterr().out


def test_too_much_time_unjudged_is_exit_code_4(capsys):
    assert run("replay", CAPTURE, "--deploy-time", "1789998800", "--window=10m") == 4

    assert "undecided: not judged: 15 % of the exec" in capsys.readouterr().out


def test_the_json_goes_alone_to_standard_output(capsys):
    run("replay", CAPTURE, *DEPLOY, "--format", "json")

    assert json.loads(capsys.readouterr().out)["deploy_time"] == 1790000000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "COMMAND"),
        (("judge",), "judge"),
        (("replay", CAPTURE), "--deploy-time"),
        (("replay", CAPTURE, "--deploy-time", "noon"), "a time such as 2026-"),
        (("replay", CAPTURE, *DEPLOY, "--window", "soon"), "a duration such as 30m"),
        (("replay", CAPTURE, "--deploy-time", "1790000000000"), "milliseconds"),
        (("replay", "nowhere.json", *DEPLOY), "nowhere.json"),
        (("check", "--config.file=nowhere.yml"), "nowhere.yml: cannot be read"),
        (("backtest",), "--since"),
        (("backtest", "--since=long"), "a duration such as 30m"),
        (("power", "--cv=0"), "a number above 0 such as 0.3"),
        (("power", "--cv=noisy"), "a number above 0 such as 0.3"),
        (("power", "--cv=0.3", "--phi=1"), "between -1 and 1"),
        (("power", "--cv=0.3", *INSTEAD), "not allowed with"),
        (("power", "--capture=nowhere.json"), "nowhere.json"),
        (("explain",), "QUERYID"),
        (("explain", "101"), "--deploy"),
        (("explain", "101", *INSTEAD, "--deploy=grafana-1"), "a capture has no ids"),
        (
            ("explain", "101", *INSTEAD, "--deploy=1790000000000"),
            "did you mean 1790000000?",
        ),
        (
            ("explain", "7", *INSTEAD, *DEPLOY),
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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "not JSON"),
        ("<html><title>Login</title></html>", "Login"),
        ('{"status": "error", "errorType": "bad_data", "error": "parse"}', "parse"),
        (
            '{"status": "success", "data": {"resultType": "vector", "result": []}}',
            "matrix",
        ),
        ('{"status": "success", "data": {"resultType": "matrix", "result": []}}', ""),
    ],
)
def test_a_bad_capture_is_exit_code_3(content, said, tmp_path, capsys):
    capture = tmp_path / "capture.json"
    capture.write_text(content)

    assert run("replay", str(capture), *DEPLOY) == 3

    error = capsys.readouterr().err
    assert str(capture) in error
    assert said in error


def test_a_system_that_is_not_there_is_exit_code_3(config, capsys):
    assert run("deploy", config, "--at", f"{time.time() - 7200:.0f}") == 3

    assert "prometheus" in capsys.readouterr().err


def test_check_looks_at_every_system_before_it_fails(config, capsys):
    assert run("check", config) == 3

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "FAILED", "FAILED"]


def test_the_syntax_can_be_checked_without_reaching_for_anything(config, capsys):
    assert run("check", config, "--syntax-only") == 0


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("--web.listen-address=9720", "expected host:port or :port such as :9720"),
        ("--web.listen-address=here:x", "expected host:port or :port such as :9720"),
        ("--web.listen-address=:99999", "expected a port up to 65535"),
        ("--web.telemetry-path=metrics", "expected a path such as /metrics"),
    ],
)
def test_an_address_that_cannot_be_served_is_reported(
    argument, said, config, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    assert run("run", config, argument) == 2

    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ago", "said"), [(-3600, "in the future"), (60, "wait, or take a shorter")]
)
def test_a_window_that_has_not_passed_is_refused(config, capsys, ago, said):
    assert run("deploy", config, "--at", f"{time.time() - ago:.0f}") == 2

    assert said in capsys.readouterr().err


def test_a_window_without_a_unit_is_refused_with_the_one_that_was_meant(config, capsys):
    assert run("deploy", config, "--at", "1789997600", "--window", "30") == 2

    error = capsys.readouterr().err
    assert "argument --window: expected a duration with a unit" in error
    assert "did you mean 30s?" in error


def test_a_reader_that_leaves_early_is_not_an_error():
    replay = f"{sys.executable} -m evaluator replay {CAPTURE} --deploy-time 1790000000"
    pipe = f"{replay} --format json | head -1; exit ${{PIPESTATUS[0]}}"

    done = subprocess.run(
        ["bash", "-c", pipe], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert done.returncode in (0, 1)
