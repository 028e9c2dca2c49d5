"""Scripts of the first release that judge captures still find what they import."""

from __future__ import annotations

from evaluator import config, examination
from evaluator.engine.judge import LOOKS
from evaluator.model import CALIBRATED, Report, Settings
from evaluator.service.evaluate import examine
from evaluator.settings.schema import EngineConfig
from evaluator.sinks.annotations import outcome_of
from tests.builders import DEPLOY_AT, deploy


def test_each_former_name_is_the_thing_of_today():
    assert config.EngineConfig is EngineConfig
    assert examination.examine is examine
    assert CALIBRATED.looks == LOOKS


def test_the_outcome_of_a_report_is_its_decision():
    report = Report(deploy(), DEPLOY_AT, Settings(), ())

    assert outcome_of(report) == report.decision.kind == "undecided"
