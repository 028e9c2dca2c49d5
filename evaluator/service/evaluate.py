"""One deploy: read its counters, judge them, note what is missing from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..engine import follow, judge
from ..errors import IncompleteDataError
from ..model import METHODS, Deploy, Outcome, Report, Settings, Verdict
from ..sources.readings import Reading
from ..sources.surroundings import Found
from ..units import show_duration, show_time
from .obstacles import HISTORY, few_calls, obstacles, short_history

Around: TypeAlias = Callable[[Deploy, float, float, Collection[str]], Found]


def looks(settings: Settings) -> tuple[float, ...]:
    """Shares of the window after which a deploy is looked at; the last is the whole."""
    return METHODS[settings.engine].looks


def examine(
    deploy: Deploy,
    read: Callable[[Deploy, float, float], Reading],
    settings: Settings,
    clock: Callable[[], float],
    *,
    around: Around | None = None,
    others: Sequence[Deploy] = (),
    look: int | None = None,
    earlier: Report | None = None,
) -> Report:
    """Read the counters around *deploy* and judge them.

    Args:
        around: what else is known between two moments about the servers judged.
        others: deploys that may have touched the same databases.
        look: index into :func:`looks`; None when this is the only look.
        earlier: report of an earlier look; its detections stand.

    Raises:
        SourceError: the counters could not be had.
        IncompleteDataError: the source says that its answer is partial.
    """
    share = 1.0 if look is None else looks(settings)[look]
    start, end = deploy.at - settings.window, deploy.at + share * settings.window
    learns = METHODS[settings.engine].learns_from_history
    past = settings.history if learns else 0.0
    reading = read(deploy, min(start, deploy.at - past), end)
    if reading.quality.warnings:
        raise IncompleteDataError(
            f"the counters around {show_time(deploy.at)} are partial, so nothing is "
            f"concluded from them: {'; '.join(reading.quality.warnings)}"
        )
    context = Found()
    if around is not None:
        servers = reading.servers | reading.renamed.keys()
        context = around(deploy, start, end, servers).called(reading.renamed)
    near = tuple(
        other for other in others if other.id != deploy.id and start <= other.at <= end
    )
    batches = [
        follow(batch, context.fingerprints, at=deploy.at, tolerance=settings.tolerance)
        for batch in reading.batches
    ]
    surroundings = replace(
        context.surroundings,
        deploys=near,
        fingerprints=context.fingerprints,
        texts=context.texts,
    )
    judged = judge(batches, deploy, settings, surroundings, look=look)
    verdicts = tuple(judged)
    report = Report(
        subject=deploy,
        judged_at=clock(),
        settings=settings,
        verdicts=verdicts,
        quality=replace(
            reading.quality, obstacle=_obstacle(reading, verdicts, settings)
        ),
        notes=(
            *_notes(reading, verdicts, settings, start, end),
            *reading.events,
            *reading.notes,
            *context.notes,
        ),
        share=share,
        effects=judged.effects,
    )
    if earlier is None:
        return report
    return keep_earlier(report, earlier)


def examine_at_every_look(
    deploy: Deploy,
    read: Callable[[Deploy, float, float], Reading],
    settings: Settings,
    clock: Callable[[], float],
    *,
    around: Around | None = None,
    others: Sequence[Deploy] = (),
) -> Report:
    """What a running evaluator that missed no look concludes in the end.

    See :func:`examine`.
    """
    report = None
    for look in range(len(looks(settings))):
        report = examine(
            deploy,
            read,
            settings,
            clock,
            around=around,
            others=others,
            look=look if len(looks(settings)) > 1 else None,
            earlier=report,
        )
    assert report is not None  # noqa: S101 - every method has a last look
    return report


def give_up(
    deploy: Deploy, earlier: Report | None, settings: Settings, now: float, reason: str
) -> Report:
    """The final report on a deploy that could not be judged to its end."""
    if earlier is None:
        return Report(deploy, now, settings, (), failure=reason)
    verdicts = tuple(
        replace(verdict, outcome=Outcome.INSUFFICIENT_DATA, reason=reason)
        if verdict.outcome is Outcome.PENDING
        else verdict
        for verdict in earlier.verdicts
    )
    return replace(earlier, verdicts=verdicts, judged_at=now, share=1.0)


def keep_earlier(report: Report, earlier: Report) -> Report:
    """Keep what an earlier look found: its share of the error is spent."""
    kept = _keep_floods(_keep_detections(report, earlier), earlier)
    return _keep_rises(kept, earlier)


def _keep_detections(report: Report, earlier: Report) -> Report:
    """The slower queries of the earlier look as they were then."""
    now = {verdict.key for verdict in report.detected}
    kept = {v.key: v for v in earlier.detected if v.key not in now}
    if not kept:
        return report
    others = [verdict for verdict in report.verdicts if verdict.key not in kept]
    note = (
        f"{len(kept)} of the regressions were detected at an earlier look and are less "
        "clear over the whole window"
    )
    return replace(
        report,
        verdicts=tuple(
            sorted([*others, *kept.values()], key=lambda verdict: verdict.key)
        ),
        notes=(*report.notes, note),
    )


def _keep_floods(report: Report, earlier: Report) -> Report:
    """The call floods of the earlier look as they were then."""
    effects = report.effects
    now = {flood.key for flood in effects.floods}
    kept = [flood for flood in earlier.effects.floods if flood.key not in now]
    if not kept:
        return report
    floods = sorted([*effects.floods, *kept], key=lambda one: (-one.share, one.key))
    return replace(report, effects=replace(effects, floods=tuple(floods)))


def _keep_rises(report: Report, earlier: Report) -> Report:
    """What a server shared at the earlier look, where it shares nothing now."""
    effects = report.effects
    now = {rise.server for rise in effects.shared}
    kept = tuple(rise for rise in earlier.effects.shared if rise.server not in now)
    if not kept:
        return report
    return replace(report, effects=replace(effects, shared=(*effects.shared, *kept)))


def _notes(
    reading: Reading,
    verdicts: Iterable[Verdict],
    settings: Settings,
    start: float,
    end: float,
) -> Iterable[str]:
    """Sentences on where the samples do not cover the windows or the history."""
    if reading.first is not None and reading.first - start > settings.max_gap:
        yield (
            f"the oldest sample is from {show_time(reading.first)}, "
            f"{show_duration(reading.first - start)} after the window's start: "
            "scraping began later, or Prometheus' retention is shorter"
        )
    if reading.last is not None and end - reading.last > settings.max_gap:
        yield (
            f"the newest sample is from {show_time(reading.last)}, "
            f"{show_duration(end - reading.last)} before the window's end"
        )
    known = [v.significance for v in verdicts if v.significance is not None]
    if known and not all(significance.long_history for significance in known):
        yield short_history(settings) or (
            f"fewer than {show_duration(HISTORY * settings.window)} of history before "
            "the deploy: the noise was learnt from the windows themselves, which show "
            "slow noise badly"
        )
    if reading.quality.conflicting_samples:
        yield (
            f"{reading.quality.conflicting_samples} samples had different values at "
            "the same time and were left out"
        )


def _obstacle(
    reading: Reading, verdicts: Collection[Verdict], settings: Settings
) -> str:
    """Why the settings leave nothing to judge; empty where something was judged."""
    interval = reading.scrape_interval
    if interval is None or any(
        verdict.outcome is not Outcome.INSUFFICIENT_DATA for verdict in verdicts
    ):
        return ""
    found = [*obstacles(settings, interval), few_calls(settings, reading.most_calls)]
    return "; ".join(filter(None, found))
