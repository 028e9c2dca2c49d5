"""What the evaluator remembers, across restarts and against a second one."""

from __future__ import annotations

import sqlite3

import pytest

from evaluator.errors import ConfigurationError
from evaluator.model import Report, Settings
from evaluator.service.ledger import Ledger
from tests.builders import DEPLOY_AT, deploy, effects


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "state.sqlite")


def _report(one, **fields):
    return Report(one, DEPLOY_AT + 2000, Settings(), (), **fields)


def test_what_a_deploy_did_is_kept(path):
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)
        ledger.decide(_report(deploy(), effects=effects()))

    with Ledger(path) as ledger:
        (report,) = ledger.reports(since=0)

    assert report.effects == effects()


def test_a_deploy_is_new_once(path):
    with Ledger(path) as ledger:
        assert ledger.note(deploy(), DEPLOY_AT + 100) is True
        assert ledger.note(deploy(), DEPLOY_AT + 100) is False


def test_a_deploy_is_due_when_its_time_has_come(path):
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)

        assert ledger.due(DEPLOY_AT + 99) == []
        assert ledger.due(DEPLOY_AT + 100) == [(deploy(), None)]


def test_a_moved_mark_moves_a_deploy_that_is_still_waiting(path):
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)
        ledger.note(deploy(DEPLOY_AT + 60), DEPLOY_AT + 160)

        assert ledger.due(DEPLOY_AT + 159) == []
        assert ledger.due(DEPLOY_AT + 160) == [(deploy(DEPLOY_AT + 60), None)]


def test_seeing_the_same_mark_again_does_not_hurry_a_postponed_deploy(path):
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)
        ledger.postpone(deploy(), DEPLOY_AT + 500)
        ledger.note(deploy(), DEPLOY_AT + 100)

        assert ledger.due(DEPLOY_AT + 499) == []


def test_what_an_early_look_shown_is_there_at_the_next(path):
    early = _report(deploy(), notes=("early",), share=0.5)
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)
        ledger.keep(early, DEPLOY_AT + 500)

        assert ledger.due(DEPLOY_AT + 499) == []
        assert ledger.due(DEPLOY_AT + 500) == [(deploy(), early)]
        assert ledger.reports(since=0) == [early]
        assert ledger.unpublished() == []


def test_a_moved_mark_does_not_reopen_what_was_judged(path):
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)
        ledger.decide(_report(deploy()))
        ledger.note(deploy(DEPLOY_AT + 60), DEPLOY_AT + 160)

        assert ledger.due(DEPLOY_AT + 500) == []
        assert ledger.unpublished()[0].subject.at == DEPLOY_AT


def test_a_postponed_deploy_waits(path):
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)
        ledger.postpone(deploy(), DEPLOY_AT + 500)

        assert ledger.due(DEPLOY_AT + 499) == []
        assert ledger.due(DEPLOY_AT + 500) == [(deploy(), None)]


def test_what_was_decided_is_published_after_a_restart_and_then_not_again(path):
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)
        ledger.decide(_report(deploy(), notes=("half a story",)))

    with Ledger(path) as ledger:
        (report,) = ledger.unpublished()
        ledger.published(report)

        assert report == _report(deploy(), notes=("half a story",))
        assert ledger.unpublished() == []
        assert ledger.reports(since=0) == [report]


def test_the_first_decision_stands(path):
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)
        ledger.decide(_report(deploy()))
        ledger.decide(_report(deploy(), failure="too late"))

        assert ledger.unpublished()[0].failure == ""


def test_old_deploys_are_forgotten(path):
    with Ledger(path) as ledger:
        ledger.note(deploy(), DEPLOY_AT + 100)
        ledger.forget(DEPLOY_AT + 1)

        assert ledger.waiting() == 0


def test_a_second_evaluator_learns_that_the_file_is_held(path):
    with Ledger(path), pytest.raises(ConfigurationError, match="another evaluator"):
        Ledger(path)


def test_the_file_is_free_again_after_the_first_has_ended(path):
    with Ledger(path):
        pass

    with Ledger(path) as ledger:
        assert ledger.waiting() == 0


def test_a_file_that_is_not_a_ledger_is_refused_and_left_alone(path, tmp_path):
    (tmp_path / "state.sqlite").write_text("a letter to my mother\n" * 100)

    with pytest.raises(ConfigurationError, match="cannot be used"):
        Ledger(path)

    assert (tmp_path / "state.sqlite").read_text().startswith("a letter")


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match=r"nowhere/state.*cannot be written"):
        Ledger(str(tmp_path / "nowhere" / "state.sqlite"))


def test_a_file_of_a_later_version_is_refused(path):
    with Ledger(path):
        pass
    with sqlite3.connect(path) as database:
        database.execute("pragma user_version = 99")
    database.close()

    with pytest.raises(ConfigurationError, match="another version of pgverdict"):
        Ledger(path)
