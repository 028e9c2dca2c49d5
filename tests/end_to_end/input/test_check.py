"""``check`` shows whether each system can be reached and used."""

from __future__ import annotations

import pytest

from lab.grafana import Grafana

from ..commands import evaluator, write
from ..recording.jobs import JOBS

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


@pytest.fixture
def check(recording, tmp_path):
    """Check with a token of the role."""
    with Grafana() as grafana:
        grafana.post_deploy(
            ("deploy", "service:shop", "version:v42"), at=recording.truth.at
        )

        def run(role):
            sections = {"grafana": {"url": grafana.url}}
            return evaluator(
                "check",
                config=write(tmp_path, recording.config("prometheus-2", **sections)),
                environment={"PGVERDICT_GRAFANA_TOKEN": grafana.add_token(role)},
            )

        yield run
        assert len(grafana.annotations) == 1, "a check writes nothing"


def test_all_is_well_where_each_system_can_be_used(check):
    ended = check("Editor")

    lines = ended.output.splitlines()
    assert ended.code == 0, ended.output
    assert {line.split()[0] for line in lines} == {"ok"}
    for job in JOBS:
        assert any(f"prometheus, service {job}: raw samples of" in one for one in lines)
    assert any("service=shop environment=? version=v42" in line for line in lines)


def test_a_token_that_may_only_read_is_refused_with_the_role_it_needs(check):
    ended = check("Viewer")

    assert ended.code == 3
    (failed,) = [one for one in ended.output.splitlines() if one.startswith("FAILED")]
    assert "may not write annotations" in failed
    assert "Editor" in failed
