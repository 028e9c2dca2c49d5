"""The README is short, and what it shows is what the programs show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from .pages import PAGES, README, ROOT, blocks

RULE_TESTS = ROOT / "alerts" / "pgverdict.test.yml"
_LINK = re.compile(r"\]\((?!https?://)([^)#]*)(#[^)]*)?\)")


def test_the_readme_is_read_in_a_few_minutes():
    assert len(README.read_text("utf-8").split()) <= 900


def test_the_alert_is_the_one_that_the_rule_raises():
    shown = next(text for text in blocks(README, "text") if "Pgverdict" in text)
    alert = yaml.safe_load(RULE_TESTS.read_text("utf-8"))["tests"][0][
        "alert_rule_test"
    ][1]["exp_alerts"][0]

    words = " ".join(shown.split())
    assert alert["exp_annotations"]["summary"] in words
    assert alert["exp_annotations"]["description"] in words
    for label in ("service", "environment", "deploy"):
        assert f"{label}={alert['exp_labels'][label]}" in words


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    for path, anchor in _LINK.findall(page.read_text("utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), path
        if anchor:
            assert anchor.removeprefix("#") in anchors(target), path + anchor
