"""The pages of the documentation, and the blocks of code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
COMMANDS = ROOT / "docs" / "commands.md"
CONFIGURATION = ROOT / "docs" / "configuration.md"
METRICS = ROOT / "docs" / "metrics.md"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, and what is inside."""

    language: str
    text: str


def blocks(page: Path, language: str) -> list[str]:
    return [block.text for block in all_blocks(page) if block.language == language]


def all_blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in _BLOCK.findall(page.read_text("utf-8"))]


def table_rows(page: Path) -> list[list[str]]:
    """The cells of every row of every table, without the markers of code."""
    rows = []
    for line in page.read_text("utf-8").splitlines():
        if line.startswith("| "):
            cells = re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))
            rows.append([cell.strip("`") for cell in cells])
    return rows
