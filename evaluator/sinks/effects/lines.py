"""The lines about a deploy's whole effect that table and annotation share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ...model import CallFlood, Improvement, NewStatement, QueryKey, Report
from ...units import show_duration
from ..cause_sentences import with_sentences
from ..groups import grouped
from ..phrases import show_share
from .sentences import (
    describe_flood,
    describe_improvement,
    describe_load,
    describe_load_part,
    describe_moved,
    describe_new_statement,
    describe_rise,
    describe_shared,
    describe_vanished,
)

T = TypeVar("T", NewStatement, CallFlood, Improvement)


def effect_lines(
    report: Report, *, everything: bool = False, details: bool = False
) -> Iterator[str]:
    """Shared rises, load, floods, new statements, moved costs, improvements in order.

    More than ten of a kind on one server are one line.

    Args:
        everything: one line for each of them all the same.
        details: also the statements behind each part of a load.
    """
    effects, at = report.effects, report.subject.at
    for rise in effects.shared:
        yield describe_shared(rise)
        for cause, sentence in with_sentences(rise.causes, report.subject):
            yield f"{'external cause' if cause.external else 'note'}: {sentence}"
    for load in effects.loads:
        yield describe_load(load)
        if details:
            yield from (
                f"  {describe_load_part(part)}" for part in load.parts if part.largest
            )
    yield from _lines(
        effects.floods, describe_flood, _together_floods, everything=everything
    )
    yield from _lines(
        effects.new,
        lambda new: describe_new_statement(new, at),
        _together_new,
        everything=everything,
    )
    for moved in effects.moved:
        yield describe_moved(moved)
    for line in _lines(
        effects.improvements,
        describe_improvement,
        _together_faster,
        everything=everything,
    ):
        yield f"faster: {line}"


def lines_of(key: QueryKey, report: Report) -> Iterator[str]:
    """What the effects say of one query."""
    effects, at = report.effects, report.subject.at
    for rise in effects.shared:
        if key in rise.explained:
            yield f"not more than many queries: {describe_rise(rise)}"
    for flood in effects.floods:
        if flood.key == key:
            yield describe_flood(flood)
    for new in effects.new:
        if new.key == key:
            yield describe_new_statement(new, at)
    for moved in effects.moved:
        if key in (moved.key, moved.vanished.key):
            yield describe_moved(moved)
    for faster in effects.improvements:
        if faster.key == key:
            yield f"faster: {describe_improvement(faster)}"
    for gone in effects.vanished:
        if gone.key == key:
            yield describe_vanished(gone, at)


def _lines(
    findings: Sequence[T],
    describe: Callable[[T], str],
    together: Callable[[Sequence[T]], str],
    *,
    everything: bool,
) -> Iterator[str]:
    if everything:
        yield from map(describe, findings)
        return
    for group in grouped(findings, lambda one: one.key.instance):
        if group.together:
            yield together(group.members)
        else:
            yield describe(group.first)


def _together_floods(floods: Sequence[CallFlood]) -> str:
    return (
        f"{len(floods)} queries of {_server(floods)} called more often, "
        f"×{min(one.factor.value for one in floods):.3g} to "
        f"×{max(one.factor.value for one in floods):.3g}: "
        f"{show_share(sum(one.share for one in floods))} of the execution time"
    )


def _together_new(new: Sequence[NewStatement]) -> str:
    return (
        f"{len(new)} new statements on {_server(new)}: "
        f"{show_share(sum(one.share for one in new))} of the execution time; "
        f"{show_share(new[0].share)} by {new[0].key.queryid}"
    )


def _together_faster(faster: Sequence[Improvement]) -> str:
    return (
        f"{len(faster)} queries of {_server(faster)}: "
        f"×{min(one.factor for one in faster):.2f} to "
        f"×{max(one.factor for one in faster):.2f}, save "
        f"{show_duration(sum(one.saved for one in faster))} each second"
    )


def _server(findings: Sequence[T]) -> str:
    return findings[0].key.instance
