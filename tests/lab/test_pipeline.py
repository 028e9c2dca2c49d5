"""Deploys are marked in the Grafana of the environment, else in the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.grafana import Grafana
from lab.pipeline import pipeline


@pytest.fixture
def real() -> Iterator[Grafana]:
    """In the place of a real one."""
    with Grafana() as grafana:
        yield grafana


def test_without_an_address_it_is_the_stand_in() -> None:
    with pipeline({}) as chosen:
        number, at = chosen.mark_deploy(["deploy", "run:1"], "out")

        (found,) = chosen.annotations("run:1", at - 1, at + 1)
        assert (found["id"], found["text"]) == (number, "out")
        assert found["time"] == round(at * 1000)
        assert chosen.one(number)["tags"] == ["deploy", "run:1"]
        assert chosen.kind == "stand-in Grafana"


def test_the_one_that_the_environment_names_is_used(real: Grafana) -> None:
    named = {"GRAFANA_URL": f"{real.url}/", "GRAFANA_TOKEN": real.add_token("Editor")}

    with pipeline(named) as chosen:
        chosen.mark_deploy(["deploy"], "out")

    assert [row["text"] for row in real.annotations] == ["out"]


def test_the_token_may_be_in_a_file(real: Grafana, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(real.add_token("Editor") + "\n", encoding="utf-8")
    named = {"GRAFANA_URL": real.url, "GRAFANA_TOKEN_FILE": str(tmp_path / "token")}

    with pipeline(named) as chosen:
        chosen.mark_deploy(["deploy"], "out")

    assert len(real.annotations) == 1


def test_an_address_without_a_token_is_refused_with_what_would_be_right() -> None:
    with (
        pytest.raises(ValueError, match="GRAFANA_TOKEN_FILE names"),
        pipeline({"GRAFANA_URL": "http://127.0.0.1:1"}),
    ):
        pass
