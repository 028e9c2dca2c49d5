"""Placebo deploys in a recording: every few minutes, though nothing was deployed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evaluator.model import Deploy, Outcome, Report, Settings
from evaluator.service.evaluate import examine, examine_at_every_look
from evaluator.sources.captures import Capture
from evaluator.sources.profiles import PROFILES

from ..tables import against, table
from .pages import write_capture
from .schedule import MINUTE

MOST = 1.0  # false alerts per 1,000 queries and deploy


@dataclass(frozen=True, slots=True)
class Placebo:
    """One moment at which nothing was deployed.

    Args:
        minutes: from the beginning of the recording.
        judged: queries past the floors.
        alarms: queries detected at the end; ``alerts`` those without an external cause.
        looks: queries without an external cause detected at any look.
        factors: of the queries detected at any look.
    """

    minutes: float
    judged: int
    alarms: int
    alerts: int
    looks: int
    factors: tuple[float, ...]


def placebos(
    pages: Path, settings: Settings, *, every: float = 5 * MINUTE
) -> Iterator[Placebo]:
    """Judge each moment that has a whole window on both sides."""
    with TemporaryDirectory(prefix="recording-") as folder:
        path = Path(folder) / "capture.json"
        first, last = write_capture(pages, path)
        capture = Capture(str(path), PROFILES["pgverdict"])
    for at in np.arange(first + settings.window, last - settings.window + 1.0, every):
        yield _placebo(capture, float(at), settings, first)


def _placebo(capture: Capture, at: float, settings: Settings, first: float) -> Placebo:
    deploy = Deploy(id=f"placebo-{at:.0f}", at=at)
    at_the_end, with_looks = (
        judge(
            deploy,
            lambda _, start, end: capture.read(start, end),
            settings,
            lambda: at,
            around=lambda _, start, end, __: capture.surroundings(start, end),
        )
        for judge in (examine, examine_at_every_look)
    )
    return Placebo(
        minutes=(at - first) / MINUTE,
        judged=sum(
            one.outcome is not Outcome.INSUFFICIENT_DATA for one in at_the_end.verdicts
        ),
        alarms=len(at_the_end.detected),
        alerts=_alerts(at_the_end),
        looks=_alerts(with_looks),
        factors=tuple(one.factor or 0.0 for one in with_looks.detected),
    )


def _alerts(report: Report) -> int:
    return sum(not one.external_cause for one in report.detected)


def report(found: list[Placebo], name: str) -> str:
    """The moments with a detection, and the rates of all of them."""
    judged = sum(one.judged for one in found)
    rows = [
        (
            f"{one.minutes:.0f}",
            f"{one.judged}",
            *(f"{count}" for count in (one.alarms, one.alerts, one.looks)),
            ", ".join(f"×{factor:.2f}" for factor in sorted(one.factors)),
        )
        for one in found
        if one.factors or one.alarms
    ]
    head = ("minute", "judged", "alarms", "alerts", "alerts, looks", "factors")
    rates = [
        (what, f"{1000.0 * count / max(judged, 1):.2f}", *_goal(count, judged))
        for what, count in (
            ("false alarms", sum(one.alarms for one in found)),
            ("false alerts", sum(one.alerts for one in found)),
            ("false alerts, all looks", sum(one.looks for one in found)),
        )
    ]
    return "\n\n".join(
        (
            f"### {name}: {len(found)} placebo deploys, {judged:,} judgements",
            table(head, rows),
            table(("per 1,000 queries and deploy", "", "goal", ""), rates),
        )
    )


def _goal(count: int, judged: int) -> tuple[str, str]:
    return against(1000.0 * count / max(judged, 1), MOST)
