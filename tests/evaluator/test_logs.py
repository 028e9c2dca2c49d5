"""Log lines: what happened, then key=value, in one line whatever is in it."""

from __future__ import annotations

import json

import pytest
import structlog

from evaluator import logs


@pytest.fixture(autouse=True)
def _leave_no_traces():
    yield
    structlog.reset_defaults()


def test_a_line_says_when_how_grave_what_and_then_the_rest(capsys):
    logs.set_up("info", "logfmt")
    structlog.get_logger().warning("deploy unclear", deploy="grafana-1", why="no tag")

    line = capsys.readouterr().err
    assert line.startswith("time=2")
    assert line.endswith(
        'Z level=warn msg="deploy unclear" deploy=grafana-1 why="no tag"\n'
    )


def test_json_holds_the_same(capsys):
    logs.set_up("info", "json")
    structlog.get_logger().error("step failed", step="judge", error='said "no"\n')

    line = json.loads(capsys.readouterr().err)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "error",
        "msg": "step failed",
        "step": "judge",
        "error": 'said "no"\n',
    }


@pytest.mark.parametrize("style", logs.FORMATS)
def test_a_line_is_one_line(style, capsys):
    logs.set_up("info", style)
    structlog.get_logger().info("said", what="one\ntwo\r\nthree")

    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("level", logs.LEVELS)
def test_what_is_less_grave_than_asked_for_is_not_written(level, capsys):
    logs.set_up(level, "logfmt")
    log = structlog.get_logger()
    for name in ("debug", "info", "warning", "error"):
        getattr(log, name)("said")

    shown = len(capsys.readouterr().err.splitlines())
    assert shown == len(logs.LEVELS) - logs.LEVELS.index(level)
