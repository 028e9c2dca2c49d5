"""The outside world as the configuration describes it."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from evaluator.assembly import Systems
from evaluator.commands.selection import known_overlapping
from evaluator.errors import ConfigurationError
from evaluator.settings.schema import load
from evaluator.transport import client as http
from lab.grafana import Grafana
from tests.builders import DEPLOY_AT, deploy


@pytest.fixture
def systems(tmp_path):
    """Systems of a configuration, with a Grafana where *grafana* is given."""

    def build(more="", grafana=None, environ=None):
        text = f"prometheus: {{url: 'http://127.0.0.1:9', selector: 'a=\"b\"'}}\n{more}"
        environ = dict(environ or {})
        if grafana:
            text += f"grafana: {{url: '{grafana.url}'}}\n"
            environ["PGVERDICT_GRAFANA_TOKEN"] = grafana.add_token("Editor")
        path = tmp_path / "evaluator.yml"
        path.write_text(text)
        return Systems(load(path), environ)

    return build


def test_without_a_grafana_the_message_says_what_to_write(systems):
    with pytest.raises(ConfigurationError, match="grafana: missing; for example"):
        _ = systems().grafana


def test_a_password_needs_a_name(systems):
    with pytest.raises(ConfigurationError, match=r"prometheus.username: missing"):
        systems(environ={"PGVERDICT_PROMETHEUS_PASSWORD": "s3cret"})


def test_without_a_grafana_there_is_neither_a_trigger_nor_a_place_to_publish(systems):
    assert systems().triggers == ()
    assert systems().annotations is None
    assert systems().find(DEPLOY_AT, DEPLOY_AT + 60) == []


def test_a_grafana_is_a_trigger_and_a_place_to_publish(systems):
    with Grafana() as grafana:
        grafana.post_deploy(at=DEPLOY_AT)
        built = systems(grafana=grafana)

        (trigger,) = built.triggers
        (mark,) = trigger.marks(DEPLOY_AT - 60, DEPLOY_AT + 60)

    assert trigger.name == "grafana"
    assert mark.deploy.at == DEPLOY_AT
    assert built.annotations is not None


def test_deploys_near_one_that_is_given_by_its_moment_are_known(systems):
    with Grafana() as grafana:
        for second in (0.4, 90.0, 2000.0):
            grafana.post_deploy(at=DEPLOY_AT + second)

        others = known_overlapping(
            systems(grafana=grafana), deploy(id="manual"), window=600
        )

    assert [other.at for other in others] == [DEPLOY_AT + 90]


def test_a_grafana_that_is_down_costs_no_verdict(systems, monkeypatch):
    monkeypatch.setattr(http, "FIRST_WAIT", 0.0)
    built = systems("grafana: {url: 'http://127.0.0.1:9', timeout: 1s}\n")

    with capture_logs() as lines:
        assert known_overlapping(built, deploy(id="manual"), window=600) == []

    assert [line["event"] for line in lines] == ["other deploys are not known"]
