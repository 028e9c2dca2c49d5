"""Placebo deploys in a recording: every few minutes, though nothing was deployed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evaluator.model import Deploy, Outcome, Report, Settings, Verdict
from evaluator.service.evaluate import examine, examine_at_every_look
from evaluator.sources.captures import Capture
from evaluator.sources.profiles import PROFILES

from ..tables import against, table
from .pages import write_capture
from .schedule import MINUTE
from .slowed import ONE_IN, slowed

MOST = 1.0  # false alerts per 1,000 queries and deploy


@dataclass(frozen=True, slots=True)
class Placebo:
    """One moment at which nothing was deployed.

    Args:
        minutes: from the beginning of the recording.
        judged: queries past the floors.
        long_history: whether the noise was learnt before the windows.
        alarms: queries detected at the end; ``alerts`` those without an external cause.
        looks: queries without an external cause detected at any look.
        factors: of the queries detected at any look.
        slowed: queries that were made slower by half to be found, another time;
            ``found`` those of them detected at any look.
    """

    minutes: float
    judged: int
    long_history: bool
    alarms: int
    alerts: int
    looks: int
    factors: tuple[float, ...]
    slowed: int = 0
    found: int = 0


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
    def judged(
        judge: Callable[..., Report], slower: Sequence[str] = ()
    ) -> Sequence[Verdict]:
        verdicts: Sequence[Verdict] = judge(
            Deploy(id=f"placebo-{at:.0f}", at=at),
            lambda _, start, end: slowed(capture.read(start, end), slower, at),
            settings,
            lambda: at,
            around=lambda _, start, end, __: capture.surroundings(start, end),
        ).verdicts
        return [one for one in verdicts if one.outcome in _JUDGED]

    at_the_end, with_looks = judged(examine), judged(examine_at_every_look)
    # Others at each moment, so that all of them have their turn.
    turn = round(at - first) // round(5 * MINUTE) % ONE_IN
    slower = [one.key.queryid for one in at_the_end[turn::ONE_IN]]
    found = [
        one
        for one in _detected(judged(examine_at_every_look, slower))
        if one.key.queryid in slower
    ]
    return Placebo(
        minutes=(at - first) / MINUTE,
        judged=len(at_the_end),
        long_history=all(
            one.significance is not None and one.significance.long_history
            for one in at_the_end
        ),
        alarms=len(_detected(at_the_end)),
        alerts=_alerts(at_the_end),
        looks=_alerts(with_looks),
        factors=tuple(one.factor or 0.0 for one in _detected(with_looks)),
        slowed=len(slower),
        found=len(found),
    )


_JUDGED = frozenset(Outcome) - {Outcome.INSUFFICIENT_DATA}


def _detected(verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    return [one for one in verdicts if one.outcome is Outcome.DETECTED]


def _alerts(verdicts: Sequence[Verdict]) -> int:
    return sum(not one.external_cause for one in _detected(verdicts))


def report(found: Sequence[Placebo], name: str) -> str:
    """The moments with a detection, and the rates with and without a long history."""
    moments = [
        (
            f"{one.minutes:.0f}",
            "long" if one.long_history else "short",
            *(f"{count}" for count in (one.judged, one.alarms, one.alerts, one.looks)),
            ", ".join(f"×{factor:.2f}" for factor in sorted(one.factors)),
        )
        for one in found
        if one.factors or one.alarms
    ]
    head = ("minute", "history", "judged", "alarms", "alerts", "alerts, looks", "rises")
    rates = [
        _rates(which, [one for one in found if one.long_history is long])
        for which, long in (("long", True), ("short", False))
    ]
    return "\n\n".join((f"### {name}", table(head, moments), table(_RATES_HEAD, rates)))


_RATES_HEAD = (
    "history",
    "placebo deploys",
    "judgements",
    "false alarms per 1,000",
    "false alerts",
    "false alerts, looks",
    "goal",
    "",
    "of +50 % found",
)


def _rates(which: str, found: Sequence[Placebo]) -> tuple[str, ...]:
    """Per 1,000 queries and deploy."""
    judged = sum(one.judged for one in found)
    alarms, alerts, looks = (
        1000.0 * sum(counts) / max(judged, 1)
        for counts in (
            [one.alarms for one in found],
            [one.alerts for one in found],
            [one.looks for one in found],
        )
    )
    counts = f"{len(found)}", f"{judged:,}"
    power = sum(one.found for one in found) / max(sum(o.slowed for o in found), 1)
    rates = (f"{rate:.2f}" for rate in (alarms, alerts, looks))
    return (which, *counts, *rates, *against(looks, MOST), f"{power:.2f}")
