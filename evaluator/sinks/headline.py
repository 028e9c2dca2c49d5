"""What a report comes to, in half a sentence: the same words for every output."""

from __future__ import annotations

from ..model import DecisionKind, NewStatement, Reason, Report
from .effects.sentences import describe_rise
from .phrases import count_queries, describe_unjudged, show_share

_OPEN = "the window has not passed yet"


def describe_decision(report: Report) -> str:
    """What the report comes to and why, as a sentence without a full stop."""
    result = describe_result(report)
    unjudged = f"not judged: {describe_unjudged(report)}"
    warnings = "; ".join(report.quality.warnings)
    sentences = {
        Reason.DETECTED: result,
        Reason.CALL_FLOOD: result,
        Reason.SERVER_SLOWED: result,
        Reason.COST_MOVED: result,
        Reason.NONE_DETECTED: result,
        Reason.TIME_UNJUDGED: ", ".join([unjudged, *_named(report)]),
        Reason.WINDOW_OPEN: ", ".join([_OPEN, *_named(report)]),
        Reason.PARTIAL_DATA: f"the data are partial: {warnings}",
        Reason.UNUSABLE_SETTINGS: report.quality.obstacle,
        Reason.NO_QUERIES: "no query was seen in the window",
        Reason.NOT_JUDGED: f"nothing could be judged: {report.failure}",
    }
    return sentences[report.decision.reason]


def describe_result(report: Report) -> str:
    """What the headline says: slower queries, floods, new statements, moved costs."""
    parts = _named(report)
    if report.decision.kind in (DecisionKind.UNDECIDED, DecisionKind.FAILED):
        return ", ".join(["cannot tell whether a query got slower", *parts])
    if report.decision.reason is Reason.NONE_DETECTED:
        return ", ".join(["no query found slower", *parts])
    return ", ".join(parts)


def _named(report: Report) -> list[str]:
    """What was found, in the order of its weight."""
    effects = report.effects
    parts = [describe_rise(rise) for rise in effects.shared]
    slower = [v for v in report.regressions if v.key not in effects.explained_keys]
    if slower:
        beyond = " beyond that" if parts else ""
        parts.append(f"{count_queries(len(slower))} slower{beyond}")
    if floods := effects.notable_floods:
        by = (
            f"×{floods[0].factor.value:.3g} as often"
            if len(floods) == 1
            else "more often"
        )
        parts.append(f"{count_queries(len(floods))} called {by}")
    if new := effects.notable_new:
        parts.append(_describe_new(new))
    if moved := effects.moved:
        parts.append(f"the cost of {count_queries(len(moved))} moved")
    return parts


def _describe_new(new: tuple[NewStatement, ...]) -> str:
    share = show_share(sum(one.share for one in new))
    if len(new) > 1:
        return f"{len(new)} new statements take {share} of the execution time"
    (one,) = new
    instead = "" if one.replaced is None else f" in place of {one.replaced.key.queryid}"
    return (
        f"new statement {one.key.queryid}{instead} takes {share} of the execution time"
    )
