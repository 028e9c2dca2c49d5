"""What a deploy did besides single slower queries, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import (
    CallFlood,
    Estimate,
    Improvement,
    LoadChange,
    LoadKind,
    LoadPart,
    MeasureErrors,
    MovedCost,
    NewStatement,
    QueryKey,
    Report,
    SharedRise,
    Usage,
    Vanished,
)
from ...units import show_duration, show_time
from ..phrases import show_share

_PARTS = {
    LoadKind.SLOWER_CALLS: "slower calls",
    LoadKind.MORE_CALLS: "more calls",
    LoadKind.NEW: "new statements",
    LoadKind.VANISHED: "vanished statements",
}
# Characters of a statement's text that are shown.
_TEXT = 80
# Statements that are named with a shared rise, or a part of the load.
_NAMED = 3
# Changes of load below this are written as none, execution seconds per second.
_LEAST_LOAD = 5e-4


def notes_of(report: Report) -> tuple[str, ...]:
    """The notes of the report, and what kept statements from being measured."""
    errors = (line for one in report.effects.errors for line in describe_errors(one))
    return *report.notes, *errors


def describe_load(load: LoadChange) -> str:
    """Before, after and the parts of one server's load."""
    parts = ", ".join(
        f"{_PARTS[part.kind]} {_signed(Estimate(part.change.value))}"
        for part in load.parts
    )
    return (
        f"load of {load.server}: {load.before.value:.3g} → {load.after.value:.3g} s of "
        f"execution each second ({_signed(Estimate(load.change))}: {parts})"
    )


def describe_rise(rise: SharedRise) -> str:
    """What got slower together and by how much, in half a sentence."""
    if rise.whole:
        return f"server {rise.server} slowed by ×{rise.factor.value:.2f}"
    return (
        f"{rise.queries} queries of {rise.server} that move together slowed by "
        f"×{rise.factor.value:.2f}"
    )


def describe_shared(rise: SharedRise) -> str:
    """The same with its interval, how sure it is, its cost and its members."""
    factor = rise.factor
    interval = (
        ""
        if factor.low is None or factor.high is None
        else f" ({factor.low:.2f} to {factor.high:.2f})"
    )
    costliest = ", ".join(key.queryid for key in rise.members[:_NAMED])
    sentence = (
        f"{describe_rise(rise)}{interval}: costs "
        f"{show_duration(rise.extra_seconds_per_second)} more each second, most by "
        f"{costliest}; the largest of {rise.moments} jumps before the deploy was "
        f"×{rise.largest_before:.2f}"
    )
    if rise.explained:
        sentence += f"; explains {len(rise.explained)} of the slower queries"
    return sentence


def describe_load_part(part: LoadPart) -> str:
    """One part with its interval, and the statements that move it most."""
    largest = ", ".join(
        f"{one.key.queryid} {_signed(Estimate(one.change))}"
        for one in part.largest[:_NAMED]
    )
    return f"{_PARTS[part.kind]} {_signed(part.change)}: {largest}"


def describe_new_statement(new: NewStatement, at: float) -> str:
    """A new statement, what it takes and what it may replace.

    Args:
        at: of the deploy, Unix seconds.
    """
    sentence = (
        f"new statement {_name(new.key)}: {_usage(new.after)}, "
        f"{show_share(new.share)} of the execution time, first seen "
        f"{_distance(new.first_seen - at)} the deploy"
    )
    if new.replaced is not None:
        sentence += (
            f"; replaced? {new.replaced.key.queryid}, {_usage(new.replaced.before)}"
        )
        if new.pair is not None:
            sentence += f"; load {_signed(new.pair)}"
    return sentence + _text(new.text)


def describe_vanished(gone: Vanished, at: float) -> str:
    """A statement that is not called any more.

    Args:
        at: of the deploy, Unix seconds.
    """
    return (
        f"statement {_name(gone.key)} is not called any more: {_usage(gone.before)}, "
        f"last {_distance(gone.last_called - at)} the deploy{_text(gone.text)}"
    )


def describe_flood(flood: CallFlood) -> str:
    """How much more often a statement is called, and what that takes."""
    traffic = f", traffic ×{flood.traffic:.2f}" if flood.traffic != 1.0 else ""
    factor = flood.factor
    interval = (
        ""
        if factor.low is None or factor.high is None
        else f" ({factor.low:.3g} to {factor.high:.3g}{traffic})"
    )
    return (
        f"query {_name(flood.key)}: called ×{factor.value:.3g} as often{interval}, "
        f"{flood.before.calls:.3g} → {flood.after.calls:.3g} calls/s, "
        f"{show_share(flood.share)} of the execution time{_text(flood.text)}"
    )


def describe_moved(moved: MovedCost) -> str:
    """What took over from what."""
    gone = moved.vanished
    return (
        f"query {_name(moved.key)}: {_usage(moved.before)} → {_usage(moved.after)}, in "
        f"place of {gone.key.queryid} ({_usage(gone.before)}), which is not called any "
        f"more: the cost moved, load {_signed(moved.change)}"
    )


def describe_improvement(faster: Improvement) -> str:
    """How much faster a statement is, and what that saves."""
    before, after = faster.before.mean, faster.after.mean
    assert before is not None and after is not None  # noqa: S101, PT018 - it was called
    return (
        f"query {_name(faster.key)}: ×{faster.factor:.2f}, {show_duration(before)} → "
        f"{show_duration(after)} per call, saves {show_duration(faster.saved)} each "
        "second"
    )


def describe_errors(errors: MeasureErrors) -> Iterator[str]:
    """A sentence on each thing that kept statements from being measured."""
    where = f"on {errors.server}"
    if errors.reset_at is not None:
        yield (
            f"the statistics {where} were reset by {show_time(errors.reset_at)}: "
            f"{errors.reset} statements lost one interval"
        )
    if errors.evicted:
        yield (
            f"{errors.evicted} of {errors.statements} statements {where} were evicted "
            "and made anew at least once: pg_stat_statements.max is too small for them"
        )
    if errors.cut:
        yield (
            f"{errors.cut} of {errors.statements} statements {where} were not stored "
            "by every scrape: evicted, or left out by the exporter's limit"
        )
    if errors.without_text:
        yield (
            f"the text of {errors.without_text} new statements {where} is not known, "
            "so an old one under a new id counts as new"
        )


def _name(key: QueryKey) -> str:
    nested = ", nested" if key.toplevel == "false" else ""
    return f"{key.queryid} ({key.user}@{key.database} on {key.instance}{nested})"


def _usage(usage: Usage) -> str:
    mean = "" if usage.mean is None else f" of {show_duration(usage.mean)}"
    return f"{usage.calls:.3g} calls/s{mean}"


def _signed(change: Estimate) -> str:
    value = 0.0 if abs(change.value) < _LEAST_LOAD else change.value
    if change.low is None or change.high is None:
        return f"{value:+.3g}"
    return f"{value:+.3g} ({change.low:+.2g} to {change.high:+.2g})"


def _distance(seconds: float) -> str:
    side = "after" if seconds >= 0 else "before"
    return f"{show_duration(abs(seconds))} {side}"


def _text(text: str) -> str:
    line = " ".join(text.split())
    shown = line if len(line) <= _TEXT else f"{line[: _TEXT - 1]}…"
    return f": {shown}" if shown else ""
