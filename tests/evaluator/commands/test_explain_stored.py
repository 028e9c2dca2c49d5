"""A deploy that `run` has judged is explained from the stored report."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from evaluator.assembly import Systems
from evaluator.model import Deploy
from evaluator.service.evaluate import examine
from evaluator.service.ledger import Ledger, stored_report
from evaluator.settings.schema import load

from .running import run

pytestmark = pytest.mark.servers


@pytest.fixture
def stored(remembered, configured, now, tmp_path):
    """A ledger with a report on a deploy two hours ago, and the configuration."""
    argument = configured(remembered)
    path = Path(argument.removeprefix("--config.file="))
    state = tmp_path / "state.sqlite"
    path.write_text(path.read_text() + f"service: {{state: '{state}'}}\n")
    config = load(path)
    deploy = Deploy("grafana-7", now - 2 * 3600)
    report = examine(
        deploy, Systems(config, {}).read, config.engine.settings(), time.time
    )
    with Ledger(str(state)) as ledger:
        ledger.note(deploy, now)
        ledger.decide(report)
        # The file is read while the evaluator that wrote it holds it.
        yield argument, str(state)


def test_the_stored_verdict_is_shown_with_the_samples_of_that_query(stored, capsys):
    argument, _ = stored

    assert run("explain", "slow", "--deploy=grafana-7", argument) == 1

    output = capsys.readouterr().out
    assert output.startswith("note: the report stored by `run` at ")
    assert "verdict: detected at family" in output
    assert "(no usable interval to draw)" not in output


def test_another_window_is_judged_anew(stored, capsys):
    argument, _ = stored

    # Without Grafana nobody else knows the id.
    assert run("explain", "slow", "--deploy=grafana-7", "--window=20m", argument) != 1
    assert "stored by" not in capsys.readouterr().out


def test_a_query_that_was_not_there_is_named_with_those_that_were(stored, capsys):
    argument, _ = stored

    assert run("explain", "nowhere", "--deploy=grafana-7", argument) == 2
    assert "no query nowhere around this deploy" in capsys.readouterr().err


def test_what_is_not_there_is_not_a_stored_report(stored, tmp_path):
    _, state = stored

    assert stored_report(state, "grafana-8") is None
    assert stored_report(str(tmp_path / "missing.sqlite"), "grafana-7") is None
    broken = tmp_path / "broken.sqlite"
    broken.write_text("this is not a database, but long enough to be read as one")
    assert stored_report(str(broken), "grafana-7") is None
