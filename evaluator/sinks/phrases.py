"""Rows of text under each other, and words that several outputs share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model import PlanChange, QueryKey, Report, Verdict

# Stands beside every change of a plan.
CAUTION = "generic plans are estimates; the plan that ran may differ"

# What a terminal that knows only ASCII gets instead.
_PLAIN = str.maketrans(
    {
        "×": "x",
        "µ": "u",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "–": "-",
        "−": "-",
        "±": "+-",
        "…": "...",
        "·": "*",
        "’": "'",
        "•": "*",
        "│": "|",
        "─": "-",
        "└": "+",
        "▲": "^",
    }
)


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Numbers to the right, the last column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        numbers = (
            cell.rjust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True)
        )
        yield "  ".join([*numbers, row[-1]]).rstrip()


def describe_key(key: QueryKey) -> str:
    """One query for a person, such as ``app@shop on db1:9719, queryid 42``."""
    nested = ", nested" if key.toplevel == "false" else ""
    return f"{key.user}@{key.database} on {key.instance}, queryid {key.queryid}{nested}"


def describe_besides(verdict: Verdict) -> Iterator[str]:
    """What is known of a finding besides its numbers, what tells most comes first."""
    for cause in verdict.causes:
        if cause.external:
            yield f"external cause: {cause.evidence}"
    if verdict.plan_change is not None:
        yield _describe_plan(verdict.plan_change)
    if verdict.replaces:
        yield f"was queryid {verdict.replaces} before the deploy, followed as one query"
    for cause in verdict.causes:
        if not cause.external:
            yield cause.evidence


def describe_external(report: Report) -> str:
    """How many of the detected regressions may have another cause; empty for none."""
    detected = report.detected
    external = sum(verdict.external_cause for verdict in detected)
    if not external:
        return ""
    return f"{external} of {len(detected)} may have an external cause"


def describe_unjudged(report: Report) -> str:
    """How much of the execution time the unjudged queries took."""
    return f"{100 * report.unjudged_time:.2g} % of the execution time"


def _describe_plan(change: PlanChange) -> str:
    parts = [
        f"{word} {', '.join(nodes)}"
        for word, nodes in (("lost", change.lost), ("gained", change.gained))
        if nodes
    ]
    return f"its generic plan, an estimate, {' and '.join(parts) or 'changed'}"


def writable(text: str, encoding: str) -> str:
    """*text* as it is where *encoding* can write it, else in ASCII."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")
    return text
