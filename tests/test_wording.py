"""Words that would promise more than is known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = [
    path
    for pattern in (
        "*.md",
        "docs/*.md",
        "alerts/**/*",
        "dashboards/*",
        "evaluator/**/*",
    )
    for path in sorted(ROOT.glob(pattern))
    if path.suffix in {".md", ".yml", ".json", ".py"}
]
# An interval may have a confidence; 1 - p is none, nor the probability of anything.
CONFIDENCE = re.compile(r"confiden\w*(?!\s+interval)\b", re.IGNORECASE)
PROBABILITY = re.compile(r"(?<!not a )probability\s+of\s+(a\s+)?regression", re.I)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_p_value_is_called_a_confidence_or_a_probability(path):
    text = path.read_text(encoding="utf-8")

    assert CONFIDENCE.findall(text) == []
    assert PROBABILITY.findall(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("with 99 % confidence", True),
        ("confident", True),
        ("95 % confidence interval", False),
        ("95 % confidence\n  interval", False),
    ],
)
def test_the_rule_knows_an_interval_from_a_promise(text, found):
    assert bool(CONFIDENCE.search(text)) is found
