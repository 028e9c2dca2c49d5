"""Tables in Markdown, ready for the documentation, and what machine made them."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; every row has as many cells as *head*."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_table(page: str, title: str, made: str) -> str:
    """The page with the table *made* as the one of its section ``### title``.

    A section without a table gets it at its end.

    Raises:
        ValueError: the page has no such section.
    """
    heading = f"### {title}\n"
    if f"\n{heading}" not in page:
        raise ValueError(f"the page has no section '### {title}' for the table")
    before, _, rest = page.partition(f"\n{heading}")
    section = re.split(r"(?m)^(?=##)", rest, maxsplit=1)
    lines = section[0].splitlines()
    places = [place for place, line in enumerate(lines) if line.startswith("| ")]
    first, last = (places[0], places[-1] + 1) if places else (len(lines), len(lines))
    prose = "\n".join(lines[:first]).rstrip(), "\n".join(lines[last:]).strip()
    parts = [part for part in (prose[0], made, prose[1]) if part]
    return f"{before}\n{heading}" + "\n".join(
        ["", *"\n\n".join(parts).lstrip().split("\n"), "", *section[1:]]
    )


def against(figure: float, goal: float, *, at_least: bool = False) -> tuple[str, str]:
    """The goal and whether *figure* reaches it, as two cells."""
    reached = figure >= goal if at_least else figure <= goal
    return (
        f"{'≥' if at_least else '≤'} {goal:g}",
        "reached" if reached else "**missed**",
    )


def circumstances() -> str:
    """Date, machine and its load in one line; the machine's name stays out of it."""
    with open("/proc/meminfo", encoding="ascii") as facts:  # noqa: PTH123
        memory = int(facts.readline().split()[1]) / 1024**2
    load = os.getloadavg()[0]
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores ({processor()}), {memory:.0f} GB of memory, "
        f"load {load:.1f} at the start"
    )


def processor() -> str:
    """The processor's own name, or the architecture where it has none."""
    with open("/proc/cpuinfo", encoding="utf-8") as facts:  # noqa: PTH123
        names = [line.split(":")[1].strip() for line in facts if "model name" in line]
    return names[0] if names else platform.machine()
