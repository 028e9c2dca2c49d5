"""The outside world as the configuration describes it."""

from __future__ import annotations

import pytest

from evaluator.assembly import Systems
from evaluator.errors import ConfigurationError
from evaluator.settings.schema import load
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


def test_without_a_grafana_the_service_is_told_what_to_write(systems):
    with pytest.raises(ConfigurationError, match="grafana: missing; for example"):
        _ = systems().grafana


def test_a_password_needs_a_name(systems):
    with pytest.raises(ConfigurationError, match=r"prometheus.username: missing"):
        systems(environ={"PGVERDICT_PROMETHEUS_PASSWORD": "s3cret"})


def test_deploys_of_services_with_other_databases_are_no_rivals(systems):
    found = systems("services: {mail: 'a=\"c\"'}\n").rivals(
        deploy(id="one", service="shop"),
        [
            deploy(id="one", service="shop"),
            deploy(id="same selector", service="api"),
            deploy(id="other selector", service="mail"),
        ],
    )

    assert [one.id for one in found] == ["same selector"]


def test_deploys_to_another_environment_are_no_rivals_unless_it_is_unknown(systems):
    others = [
        deploy(id=name or "unknown", environment=name) for name in ("prod", "test", "")
    ]

    found = systems().rivals(deploy(id="one", environment="prod"), others)

    assert [one.id for one in found] == ["prod", "unknown"]


def test_a_mark_at_the_same_moment_is_the_deploy_itself(systems):
    with Grafana() as grafana:
        for second in (0.4, 90.0):
            grafana.post_deploy(at=DEPLOY_AT + second)

        found = systems(grafana=grafana).neighbours(deploy(id="manual"), window=600)

    assert [one.at for one in found] == [DEPLOY_AT + 90]
