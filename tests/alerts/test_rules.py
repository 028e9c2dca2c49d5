"""The alerts do what their own tests say, and lead to a page that helps."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab import fetch

ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "alerts"
RULES = ALERTS / "pgverdict.rules.yml"
EXAMPLE = ALERTS / "alertmanager.example.yml"
SECTIONS = ["## Meaning", "## Impact", "## Diagnosis", "## Mitigation"]


def run(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    tool = fetch.tool(name)
    return subprocess.run(
        [tool.path, *arguments],
        env={**os.environ, **tool.environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_promtool_finds_the_rules_right() -> None:
    checked = run("promtool", "check", "rules", "--lint=all", "--lint-fatal", RULES)

    assert checked.returncode == 0, checked.stderr + checked.stdout


def test_each_alert_is_silent_then_firing_then_resolved_as_specified() -> None:
    tested = run("promtool", "test", "rules", ALERTS / "pgverdict.test.yml")

    assert tested.returncode == 0, tested.stderr + tested.stdout


def test_every_alert_is_specified() -> None:
    groups = yaml.safe_load((ALERTS / "pgverdict.test.yml").read_text("utf-8"))
    cases = [case for test in groups["tests"] for case in test["alert_rule_test"]]

    for rule in alerts():
        expected = [c["exp_alerts"] for c in cases if c["alertname"] == rule["alert"]]
        assert [] in expected
        assert any(expected)


def test_a_wrong_expectation_would_be_found(tmp_path: Path) -> None:
    text = (ALERTS / "pgverdict.test.yml").read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.test.yml"
    wrong.write_text(
        text.replace("pgverdict.rules.yml", str(RULES)).replace("2.31 times", "2 times")
    )

    tested = run("promtool", "test", "rules", wrong)

    assert tested.returncode == 1
    assert "takes 2.31 times as long" in tested.stderr + tested.stdout


def test_every_alert_leads_to_its_runbook_and_every_runbook_has_its_alert() -> None:
    ends = {rule["annotations"]["runbook_url"].rpartition("/")[2] for rule in alerts()}
    pages = {page.name for page in ALERTS.glob("runbooks/*.md")}

    assert ends == pages
    assert ends == {f"{rule['alert']}.md" for rule in alerts()}


@pytest.mark.parametrize(
    "page", sorted(ALERTS.glob("runbooks/*.md")), ids=lambda p: p.stem
)
def test_a_runbook_has_meaning_impact_diagnosis_and_mitigation(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()

    assert lines[0] == f"# {page.stem}"
    headings = [line for line in lines if line.startswith("## ")]
    assert [line for line in headings if line in SECTIONS] == SECTIONS


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_an_alert_keeps_the_conventions(rule: dict[str, Any]) -> None:
    notes = rule["annotations"]

    assert rule["alert"].startswith("Pgverdict")
    # The evaluator's own setting decides between the first two where it has one.
    severities = ("critical", "warning", "info", "{{ $labels.severity }}")
    assert rule["labels"] in ({"severity": severity} for severity in severities)
    assert set(notes) == {"summary", "description", "runbook_url", "dashboard_url"}
    assert notes["summary"].endswith(".")
    assert "{{" not in notes["summary"]
    assert "}}/d/pgverdict-" in notes["dashboard_url"]


def test_the_alertmanager_example_is_right() -> None:
    checked = run("amtool", "check-config", EXAMPLE)

    assert checked.returncode == 0, checked.stderr + checked.stdout


@pytest.mark.parametrize(
    ("severity", "receiver"),
    [("warning", "tickets"), ("critical", "pager"), ("info", "nobody")],
)
def test_the_example_routes_by_severity(severity: str, receiver: str) -> None:
    routed = run(
        *("amtool", "config", "routes", "test", f"--config.file={EXAMPLE}"),
        *(f"--verify.receivers={receiver}", f"severity={severity}"),
    )

    assert routed.returncode == 0, routed.stderr + routed.stdout
    assert receiver in routed.stdout.split()
