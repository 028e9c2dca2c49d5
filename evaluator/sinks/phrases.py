"""Words and layout that several outputs share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model import (
    Deploy,
    PlanChange,
    QueryKey,
    Reason,
    Report,
    Subject,
    Verdict,
)
from ..units import show_duration, show_time
from .cause_sentences import with_sentences

# Shown with every change of a plan.
CAUTION = "generic plans are estimates; the plan that ran may differ"

# The least percentage that is written out.
_SMALLEST = 0.1

# What a terminal that can only show ASCII gets instead.
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


def describe_subject(subject: Subject) -> str:
    """What the report is about and when that was, on one line."""
    if isinstance(subject, Deploy):
        named = (subject.service, subject.environment, subject.version)
        name = " ".join(filter(None, named)) or subject.id
        return f"deploy {name} at {show_time(subject.at)}"
    drifted = subject.server if subject.key is None else describe_key(subject.key)
    return f"drift of {drifted} at {show_time(subject.at)}"


def describe_judgement(report: Report) -> str:
    """The subject, and how it was judged."""
    return (
        f"{describe_subject(report.subject)}, "
        f"{show_duration(report.settings.window)} before and after, "
        f"engine {report.settings.engine}"
    )


def describe_decision(report: Report) -> str:
    """What the report comes to and why, as a sentence without a full stop."""
    warnings = "; ".join(report.quality.warnings)
    sentences = {
        Reason.DETECTED: f"{count_queries(len(report.detected))} slower",
        Reason.NONE_DETECTED: "no query found slower",
        Reason.TIME_UNJUDGED: f"not judged: {describe_unjudged(report)}",
        Reason.WINDOW_OPEN: "the window has not passed yet",
        Reason.PARTIAL_DATA: f"the data are partial: {warnings}",
        Reason.NO_QUERIES: "no query was seen in the window",
        Reason.NOT_JUDGED: f"nothing could be judged: {report.failure}",
    }
    return sentences[report.decision.reason]


def describe_besides(verdict: Verdict, subject: Subject) -> Iterator[str]:
    """What is known besides the numbers, the most telling first."""
    causes = [*with_sentences(verdict.causes, subject)]
    for cause, sentence in causes:
        if cause.external:
            yield f"external cause: {sentence}"
    if verdict.plan_change is not None:
        yield _describe_plan(verdict.plan_change)
    if verdict.replaces:
        yield f"was queryid {verdict.replaces} before the deploy, followed as one query"
    for cause, sentence in causes:
        if not cause.external:
            yield sentence


def describe_external(report: Report) -> str:
    """How many of the detected regressions may have another cause; empty for none."""
    detected = report.detected
    external = sum(verdict.external_cause for verdict in detected)
    if not external:
        return ""
    return f"{external} of {len(detected)} may have an external cause"


def describe_unjudged(report: Report) -> str:
    """How much of the execution time after the deploy the unjudged queries took."""
    return f"{show_share(report.unjudged_time)} of the execution time after the deploy"


def count_queries(count: int) -> str:
    """A number of queries, such as ``1 query``."""
    return f"{count} quer{'y' if count == 1 else 'ies'}"


def show_share(share: float) -> str:
    """Write a fraction from 0 to 1 as a percentage.

    One decimal near both ends. Only 0 is written ``0 %``, and only 1 ``100 %``.
    """
    percent = 100 * share
    if 0 < percent < _SMALLEST:
        return f"<{_SMALLEST:g} %"
    if 100 - _SMALLEST < percent < 100:
        return f">{100 - _SMALLEST:g} %"
    near_an_end = percent < 10 or percent > 90
    return f"{round(percent, 1) if near_an_end else round(percent):g} %"


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
