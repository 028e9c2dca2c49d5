"""A ledger that an earlier version wrote is read, and no deploy is lost.

``ledger_format_1.sql`` is the dump of a file that commit 26345a5 wrote: a deploy that
waits, one that was looked at early, one that was judged, one that was published, and
one that could not be judged.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest

from evaluator.errors import ConfigurationError
from evaluator.model import DecisionKind, DeployKind, Drift, Level, Report, Settings
from evaluator.service import rows
from evaluator.service.ledger import Ledger
from evaluator.sinks.annotations import draft_of
from tests.builders import DEPLOY_AT, KEY, deploy, finding

FORMAT_1 = Path(__file__).with_name("ledger_format_1.sql").read_text("utf-8")
LATE = DEPLOY_AT + 86_400


@pytest.fixture
def path(tmp_path):
    """A file as commit 26345a5 left it."""
    path = str(tmp_path / "state.sqlite")
    run(path, FORMAT_1)
    return path


def run(path, script):
    database = sqlite3.connect(path)
    database.executescript(script)
    database.close()


def select(path, query):
    database = sqlite3.connect(path)
    selected = database.execute(query).fetchall()
    database.close()
    return selected


def test_what_waits_is_still_due_with_the_report_of_its_early_look(path):
    with Ledger(path) as ledger:
        (waiting, none), (_, early) = ledger.due(LATE)

    assert none is None
    assert early is not None
    assert waiting.id == "grafana-1"
    assert waiting.at == waiting.end == DEPLOY_AT + 60
    assert waiting.kind is DeployKind.DEPLOY
    assert waiting.marks == ("grafana-1",)
    assert (waiting.service, waiting.environment) == ("shop", "production")
    assert (waiting.version, waiting.link) == ("v42", "https://ci.example.com/1")
    assert early.subject.id == "grafana-2"
    assert early.share == pytest.approx(1 / 3)
    assert [verdict.key.queryid for verdict in early.detected] == ["1"]


def test_what_was_judged_is_published_with_the_sentences_of_its_causes(path):
    with Ledger(path) as ledger:
        judged, failed = ledger.unpublished()

    assert judged.subject.id == "grafana-3"
    assert judged.decision.kind is DecisionKind.REGRESSED
    assert judged.notes == ("the oldest sample is from yesterday",)
    assert [verdict.external_cause for verdict in judged.detected] == [True]
    text = draft_of(judged).text
    assert "1 of 1 may have an external cause" in text
    assert "external cause: 2 of 3 other queries of the server got slower" in text
    assert failed.decision.kind is DecisionKind.FAILED
    assert failed.failure == "prometheus answered 503"


def test_what_was_published_is_shown_and_not_published_again(path):
    with Ledger(path) as ledger:
        reports = {report.subject.id: report for report in ledger.reports(since=0)}
        unpublished = {report.subject.id for report in ledger.unpublished()}

    assert set(reports) == {f"grafana-{number}" for number in (2, 3, 4, 5)}
    assert "grafana-4" not in unpublished
    assert reports["grafana-4"].settings.engine == "classic"
    (detected,) = reports["grafana-4"].detected
    assert detected.significance is None


def test_every_row_is_of_todays_version_afterwards_and_stays_as_it_is(path):
    with Ledger(path):
        pass
    first = select(path, "select * from deploys order by id")

    with Ledger(path):
        pass

    assert select(path, "select distinct version from deploys") == [(rows.VERSION,)]
    assert select(path, "pragma user_version") == [(2,)]
    assert select(path, "select * from deploys order by id") == first


def test_a_mark_that_is_seen_again_is_not_new_and_hurries_nothing(path):
    with Ledger(path) as ledger:
        ((waiting, _), *_) = ledger.due(LATE)
        ledger.postpone(waiting, LATE)

        assert ledger.note(waiting, waiting.at) is False
        assert waiting not in [one for one, _ in ledger.due(LATE - 1)]


def test_a_file_whose_format_was_not_yet_noted_is_read_too(path):
    """Killed in its first moment, between the table and its number."""
    run(path, "pragma user_version = 0")

    with Ledger(path) as ledger:
        assert ledger.waiting() == 2


@pytest.mark.parametrize(
    "spoiled",
    ["report = cast('{}' as blob)", "report = x'5b'", "deploy = cast('[3]' as blob)"],
)
def test_a_row_that_cannot_be_read_is_named_and_the_file_left_alone(path, spoiled):
    run(path, f"update deploys set {spoiled} where id = 'grafana-3'")  # noqa: S608
    before = select(path, "select * from deploys order by id")

    with pytest.raises(
        ConfigurationError, match="grafana-3 cannot be read: not as ver"
    ):
        Ledger(path)

    assert select(path, "select * from deploys order by id") == before
    assert select(path, "pragma user_version") == [(1,)]


def test_a_row_of_a_later_version_is_refused(path):
    with Ledger(path):
        pass
    run(path, "update deploys set version = 99 where id = 'grafana-3'")

    with pytest.raises(ConfigurationError, match="version 99 is not known here"):
        Ledger(path)


def test_a_refused_file_is_free_for_another_try(path):
    run(path, "pragma user_version = 99")
    with pytest.raises(ConfigurationError, match="another version of pgverdict"):
        Ledger(path)

    run(path, "pragma user_version = 1")
    with Ledger(path) as ledger:
        assert ledger.waiting() == 2


@pytest.mark.parametrize(
    "subject",
    [
        deploy(end=DEPLOY_AT + 60, kind=DeployKind.ROLLBACK, marks=("grafana-1", "x")),
        Drift("d1", KEY.instance, DEPLOY_AT - 60, DEPLOY_AT, KEY),
    ],
    ids=["deploy", "drift"],
)
def test_a_report_on_any_subject_comes_back_as_it_was(subject):
    verdicts = (finding(Level.ALERT), finding(Level.WATCH, "2"))
    report = Report(subject, DEPLOY_AT + 1900, Settings(), verdicts, notes=("n",))

    assert rows.decode_report(rows.encode_report(report)) == report


def test_a_report_without_a_subject_is_not_read():
    report = rows.encode_report(Report(deploy(), DEPLOY_AT, Settings(), ()))
    document = msgspec.json.decode(report)
    del document["deploy"]

    with pytest.raises(ValueError, match="without a subject"):
        rows.decode_report(msgspec.json.encode(document))
