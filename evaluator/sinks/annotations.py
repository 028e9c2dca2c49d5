"""A verdict on Grafana's time line: one region for each deploy, never two."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..model import DecisionKind, Deploy, Outcome, QueryKey, Report, Subject, Verdict
from ..units import show_duration
from .links import RELATIVE, Links
from .phrases import (
    count_queries,
    describe_besides,
    describe_external,
    describe_unjudged,
)

# No tag of a deploy may begin with this; triggers ignore annotations that have it.
TAG = "pgverdict"
# People read five lines in a tooltip, not fifty.
LISTED = 5
# Bytes of the value of a tag: five such tags stay far below Grafana's 500 in all.
TAG_VALUE = 60


@dataclass(frozen=True, slots=True)
class Draft:
    """An annotation to be made: a region, times in Unix seconds."""

    start: float
    end: float
    text: str
    tags: tuple[str, ...]


class Existing(Protocol):
    """An annotation that is already there."""

    @property
    def id(self) -> int: ...


class Board(Protocol):
    """Where annotations are found and made."""

    def find(
        self, start: float, end: float, tags: Sequence[str]
    ) -> Sequence[Existing]: ...

    def create(
        self, start: float, end: float, text: str, tags: Sequence[str]
    ) -> int: ...


class AnnotationSink:
    """Writes each verdict once.

    Args:
        links: where the link to the dashboard leads.
    """

    def __init__(self, board: Board, links: Links = RELATIVE) -> None:
        self._board = board
        self._links = links

    def publish(self, report: Report) -> int:
        """Make the annotation unless it is there; gives its id.

        Raises:
            SourceError: it could be neither found nor made.
            UnsureWriteError: call again later; it will be looked for first.
        """
        draft = draft_of(report, self._links)
        own = deploy_tag(report.subject.id)
        existing = self._board.find(draft.start, draft.end, [own])
        if existing:
            return existing[0].id
        return self._board.create(draft.start, draft.end, draft.text, draft.tags)


def draft_of(report: Report, links: Links = RELATIVE) -> Draft:
    """The annotation for *report*, from the deploy to the end of its window."""
    subject = report.subject
    named = {"service": subject.service, "environment": subject.environment}
    tags = (
        TAG,
        f"{TAG}-outcome:{outcome_of(report)}",
        deploy_tag(subject.id),
        *(f"{TAG}-{name}:{tag_value(value)}" for name, value in named.items() if value),
    )
    text = html.escape("\n".join(_lines(report)), quote=False)
    dashboard = html.escape(links.dashboard(report), quote=True)
    text += f'\n<a href="{dashboard}">The numbers on the dashboard</a>'
    return Draft(subject.at, subject.at + report.settings.window, text, tags)


def outcome_of(report: Report) -> str:
    """The decision in one word, under the name that it had in the first release."""
    return report.decision.kind.value


def deploy_tag(deploy_id: str) -> str:
    """The tag by which the annotation of a deploy is found again."""
    return f"{TAG}-deploy:{tag_value(deploy_id)}"


def tag_value(text: str) -> str:
    """*text* as a value that Grafana stores unchanged; different ones stay so."""
    plain = re.sub(r"[^\w.@/+-]+", "-", text)
    if plain == text and len(plain.encode()) <= TAG_VALUE:
        return plain
    digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    kept = plain.encode()[: TAG_VALUE - 9].decode(errors="ignore")
    return f"{kept}-{digest}"


def _lines(report: Report) -> Iterator[str]:
    yield _headline(report)
    detected = report.detected
    for place, verdict in enumerate(detected[:LISTED], start=1):
        yield f"{place}. {_slowdown(verdict, report.subject)}"
    if len(detected) > LISTED:
        yield f"… and {len(detected) - LISTED} more"
    for verdict in report.watched[:LISTED]:
        yield f"watch: {_slowdown(verdict, report.subject)}"
    yield from _limits(report)


def _headline(report: Report) -> str:
    unknown = "cannot tell whether a query got slower after"
    result = {
        DecisionKind.REGRESSED: f"{count_queries(len(report.detected))} slower after",
        DecisionKind.CLEAR: "no query found slower after",
        DecisionKind.UNDECIDED: unknown,
        DecisionKind.FAILED: unknown,
    }[report.decision.kind]
    also = describe_external(report)
    if report.watched:
        also += f"{', ' if also else ''}{len(report.watched)} on the watch list"
    return f"pgverdict: {result} {_name(report.subject)}{'; ' if also else ''}{also}"


def _name(subject: Subject) -> str:
    where = f" in {_short(subject.environment)}" if subject.environment else ""
    if not isinstance(subject, Deploy):
        return f"drift {_short(subject.id)}{where}"
    parts = (subject.service, subject.version)
    name = " ".join(_short(part) for part in parts if part) or _short(subject.id)
    return f"deploy {name}{where}"


def _slowdown(verdict: Verdict, subject: Subject) -> str:
    effect = verdict.effect
    assert effect is not None  # noqa: S101 - a Verdict cannot be built so
    also = "".join(f"; {phrase}" for phrase in describe_besides(verdict, subject))
    return (
        f"query {_query(verdict.key)}: ×{effect.factor:.2f}, "
        f"{show_duration(effect.before)} → {show_duration(effect.after)} per call, "
        f"costs {show_duration(effect.extra_seconds_per_second)} more each second"
        f"{_short(also, 160)}"
    )


def _query(key: QueryKey) -> str:
    nested = ", nested" if key.toplevel == "false" else ""
    place = f"{_short(key.user)}@{_short(key.database)} on {_short(key.instance)}"
    return f"{_short(key.queryid)} ({place}{nested})"


def _limits(report: Report) -> Iterator[str]:
    """How much was judged, and how much could not be."""
    if report.failure:
        yield f"Nothing was judged: {_short(report.failure, 200)}"
        return
    total, unjudged = len(report.verdicts), len(report.unjudged)
    window = show_duration(report.settings.window)
    if not total:
        yield f"No query was seen within {window} of the deploy."
        return
    queries = count_queries(total)
    judged = f"Judged {total - unjudged} of {queries}, {window} before and after"
    if unjudged:
        judged += (
            f"; {unjudged} could not be judged for want of data "
            f"({describe_unjudged(report)})"
        )
    if changed := report.count(Outcome.BACKGROUND_CHANGE):
        judged += f"; {changed} changed at another time than the deploy"
    yield f"{judged}."
    for note in (*report.quality.warnings, *report.notes)[:LISTED]:
        yield f"Note: {_short(note, 200)}"


def _short(text: str, length: int = 40) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= length else line[: length - 1] + "…"
