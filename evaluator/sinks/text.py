"""A report as a table for the terminal."""

from __future__ import annotations

from ..model import Level, Outcome, Report, Subject, Verdict
from ..units import show_duration
from .phrases import (
    aligned,
    describe_besides,
    describe_decision,
    describe_external,
    describe_judgement,
    describe_key,
    describe_unjudged,
)

_COLUMNS = ("factor", "before", "after", "costs", "p", "q-value", "changed", "query")
_NOUNS = {
    Outcome.DETECTED: "detected",
    Outcome.BACKGROUND_CHANGE: "changed elsewhere in the window",
    Outcome.NO_REGRESSION: "without a regression",
    Outcome.INSUFFICIENT_DATA: "with too little data to tell",
    Outcome.PENDING: "pending",
}


def to_table(report: Report, *, everything: bool = False) -> str:
    """The slower queries first, then how many could not be judged.

    Args:
        everything: also list the queries that are not slower.
    """
    kind = report.decision.kind
    lines = [describe_judgement(report), f"{kind}: {describe_decision(report)}"]
    shown = [*report.detected, *report.watched]
    if everything:
        listed = {verdict.key for verdict in shown}
        shown += [v for v in report.verdicts if v.key not in listed]
    if shown:
        lines += ["", *aligned([_COLUMNS, *(_row(v, report) for v in shown)])]
    lines += ["", _counts(report)]
    if external := describe_external(report):
        lines.append(f"note: {external}; pgverdict's rules do not alert on those")
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


def _counts(report: Report) -> str:
    if report.failure:
        return f"could not be judged: {report.failure}"
    counts = ((report.count(outcome), noun) for outcome, noun in _NOUNS.items())
    listed = ", ".join(f"{count} {noun}" for count, noun in counts if count)
    if report.unjudged:
        listed += f" ({describe_unjudged(report)})"
    return f"{len(report.verdicts)} queries: {listed or 'nothing to judge'}"


def _row(verdict: Verdict, report: Report) -> tuple[str, ...]:
    query = f"{describe_key(verdict.key)}{_why(verdict, report.subject)}"
    return (
        "" if verdict.factor is None else f"×{verdict.factor:.2f}",
        _seconds(verdict.before.mean),
        _seconds(verdict.after.mean),
        ""
        if verdict.effect is None
        else f"{show_duration(verdict.effect.extra_seconds_per_second)}/s",
        "" if verdict.p_value is None else f"{verdict.p_value:.1g}",
        "" if verdict.significance is None else f"{verdict.significance.q_value:.1g}",
        ""
        if verdict.change is None
        else f"{verdict.change.at - report.subject.at:+.0f} s",
        query,
    )


def _why(verdict: Verdict, subject: Subject) -> str:
    """What a reader should know of a slower query, or why it is not called slower."""
    if verdict.outcome is not Outcome.DETECTED:
        if verdict.significance and verdict.significance.level is Level.WATCH:
            return ": on the watch list"
        return f": {verdict.reason or f'{verdict.outcome} at {verdict.stage}'}"
    return "".join(f"; {phrase}" for phrase in describe_besides(verdict, subject))


def _seconds(mean: float | None) -> str:
    return "" if mean is None else show_duration(mean)
