"""``check`` shows whether each system can be reached and used."""

from __future__ import annotations

import time

import pytest

from lab.grafana import Grafana
from lab.process import wait_until
from lab.prometheus import query

from ..commands import evaluator, write
from .known import USERS

pytestmark = pytest.mark.servers


@pytest.fixture
def check(quiet, tmp_path):
    """Check with a token of the role; each user of the database is a service."""
    prometheus = quiet.backends["prometheus-2"]
    calls = 'count_over_time(pg_stat_statements_calls_total{job="quiet"}[1m]) > 1'
    wait_until(lambda: bool(query(prometheus, calls)), what="a second scrape")
    with Grafana() as grafana:
        tags = ("deploy", "service:shop", "version:v42")
        grafana.post_deploy(tags, at=time.time() - 60)

        def run(role):
            config = {
                "prometheus": {"url": prometheus},
                "grafana": {"url": grafana.url},
                "services": {user: f'user="{user}"' for user in USERS},
            }
            return evaluator(
                "check",
                config=write(tmp_path, config),
                environment={"PGVERDICT_GRAFANA_TOKEN": grafana.add_token(role)},
            )

        yield run
        assert len(grafana.annotations) == 1, "a check writes nothing"


def test_all_is_well_where_each_system_can_be_used(check):
    ended = check("Editor")

    lines = ended.output.splitlines()
    assert ended.code == 0, ended.output
    assert {line.split()[0] for line in lines} == {"ok"}
    for user in USERS:
        raw = f"prometheus, service {user}: raw samples of"
        assert any(raw in line for line in lines)
    assert any("service=shop environment=? version=v42" in line for line in lines)


def test_a_token_that_may_only_read_is_refused_with_the_role_it_needs(check):
    ended = check("Viewer")

    assert ended.code == 3
    (failed,) = [one for one in ended.output.splitlines() if one.startswith("FAILED")]
    assert "may not write annotations" in failed
    assert "Editor" in failed
