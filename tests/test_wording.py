"""Plain English and the field's terms: words and phrases that should not come back.

The terms to use instead are in the glossary of CONTRIBUTING.md.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("exporter", "evaluator", "lab", "bench", "docs", "alerts", "dashboards")
KINDS = {".md", ".yml", ".json", ".py"}

# What to write instead → what not to write, as a whole word or phrase.
INSTEAD = {
    "reported, shown, configured": r"told|untold",
    "message, answered": r"said",
    "false alarm": r"cry|cries|cried|crying",
    "fix": r"mend|mends|mended|mending",
    "seed, rng": r"dice",
    "shrinkage": r"lend|lends|lent|lending|eke|ekes|eked|eking",
    "winsorise": r"tame|tames|tamed|taming",
    "deviance": r"misfit|misfits",
    "overlapping deploys": r"rival|rivals",
    "transient": r"aftermath|fades|fading",
    "common factor, loading": r"wave|waves|strength|strengths",
    "degrees of freedom": r"(?<!degrees of )freedom",
    "backtest": r"placebo check|calibrate command",
    "coefficient of variation, standard deviation": r"scatter|scatters",
    "required sample size": r"price|prices|price list|priced",
    "sticky": r"flap|flaps|flapping",
    "single-flight": r"guest|guests",
    "is not a …": r"(?<!there )(?:is|are|was|were) no(?! (?:longer|more)\b)",
    "not JSON, not a number": r"no (?:JSON|YAML|number|duration|UTF|regular)",
}
PATTERNS = {
    instead: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for instead, words in INSTEAD.items()
} | {"math.isnan": re.compile(r"(?<![\w.])(\w+) != \1(?![\w.(\[])")}
# Where a word is truly meant: path → words.
ALLOWED = {
    # Goods have a price.
    "lab/shop.py": ("price", "prices"),
    # The old names of fields.
    "evaluator/service/rows.py": ("scatter",),
    "CHANGELOG.md": ("cries", "crying", "prices", "scatter", "scatters"),
}

# An interval may have a confidence; 1 - p is not one, nor a probability of anything.
CONFIDENCE = re.compile(r"confiden\w*(?!\s+interval)\b", re.IGNORECASE)
PROBABILITY = re.compile(r"(?<!not a )probability\s+of\s+(a\s+)?regression", re.I)


def texts() -> Iterator[tuple[str, str]]:
    """Name and text of every file that a person reads."""
    paths = [
        *ROOT.glob("*.md"),
        *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*")),
    ]
    for path in sorted(path for path in paths if path.suffix in KINDS):
        yield str(path.relative_to(ROOT)), own_words(path)


def own_words(path: Path) -> str:
    """The text, without what a page quotes from elsewhere."""
    text = path.read_text("utf-8")
    if path.name == "ARCHITECTURE.md":  # lists the docstrings
        text = text.partition("<!-- rooms: begin -->")[0]
    if path.name == "CONTRIBUTING.md":  # lists the words to avoid
        before, _, rest = text.partition("## Glossary")
        text = before + rest[rest.index("\n## ") :]
    return text


def names_of_tests() -> Iterator[tuple[str, str]]:
    """The names of all tests of a file, one on a line."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        names = [
            node.name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        ]
        yield str(path.relative_to(ROOT)), "\n".join(names)


def spoken(text: str) -> str:
    """*text* with names split into words: ``PriceList`` and ``price_list``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " ")


def unwanted(text: str, allowed: tuple[str, ...] = ()) -> list[str]:
    """Every unwanted word or phrase of *text*, with what to write instead."""
    text = " ".join(spoken(text).split())
    return [
        f"{match[0]!r}: {instead}"
        for instead, pattern in PATTERNS.items()
        for match in pattern.finditer(text)
        if match[0].lower() not in allowed
    ]


TEXTS = dict(texts())
NAMES = dict(names_of_tests())


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_in_plain_english_and_the_terms_of_the_field(name):
    assert unwanted(TEXTS[name], ALLOWED.get(name, ())) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_tests_are_too(name):
    assert unwanted(NAMES[name]) == []


@pytest.mark.parametrize("name", TEXTS)
def test_no_p_value_is_called_a_confidence_or_a_probability(name):
    if not name.startswith(("exporter/", "lab/", "bench/")):
        assert CONFIDENCE.findall(TEXTS[name]) == []
        assert PROBABILITY.findall(TEXTS[name]) == []


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


@pytest.mark.parametrize(
    "text",
    [
        "everybody is told",
        "class PriceList:",
        "def mended_sum(",
        "that is no\n    error",
        "if x != x:",
        "something that is no JSON",
    ],
)
def test_an_unwanted_word_is_found_in_prose_and_in_names(text):
    assert unwanted(text)


@pytest.mark.parametrize(
    "text",
    [
        "there is no server",
        "it is no longer shown",
        "few degrees of freedom",
        "if x != y:",
        "recommended",
    ],
)
def test_what_is_plain_english_is_left_alone(text):
    assert unwanted(text) == []
