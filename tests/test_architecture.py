"""ARCHITECTURE.md lists every module with the first sentence of its docstring.

``python -m tests.test_architecture`` writes the list anew.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
FOLDERS = ("exporter", "evaluator", "lab", "bench", "dashboards")
BEGIN, END = "<!-- rooms: begin -->\n", "<!-- rooms: end -->\n"


def rooms() -> str:
    """Every module with the first sentence of its own description."""
    lines = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            described = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
            first = " ".join(described.partition("\n\n")[0].split())
            if path.name not in ("__init__.py", "__main__.py"):
                lines.append(f"| `{path.relative_to(ROOT)}` | {first} |")
    return "| module | idea |\n|---|---|\n" + "\n".join(lines) + "\n"


def test_every_module_is_on_the_page_with_its_purpose():
    page = PAGE.read_text("utf-8")

    assert page.partition(BEGIN)[2].partition(END)[0] == rooms()
    assert "|  |" not in rooms()


if __name__ == "__main__":
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + rooms() + END + rest.partition(END)[2], "utf-8")
