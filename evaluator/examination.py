"""One deploy: read its counters, judge them, say what is amiss with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .engine.judge import judge
from .errors import IncompleteDataError
from .model import Deploy, Report, Settings
from .sources.readings import Reading
from .units import show_duration, show_time


def examine(
    deploy: Deploy,
    read: Callable[[Deploy, float, float], Reading],
    settings: Settings,
    clock: Callable[[], float],
) -> Report:
    """Read the counters around *deploy* and judge them.

    Raises:
        SourceError: the counters could not be had.
        IncompleteDataError: the source says that its answer is partial.
    """
    start, end = deploy.at - settings.window, deploy.at + settings.window
    reading = read(deploy, start, end)
    if reading.quality.warnings:
        raise IncompleteDataError(
            f"the counters around {show_time(deploy.at)} are partial, so nothing is "
            f"concluded from them: {'; '.join(reading.quality.warnings)}"
        )
    return Report(
        deploy=deploy,
        judged_at=clock(),
        settings=settings,
        verdicts=judge(reading.series, deploy, settings),
        quality=reading.quality,
        notes=tuple(_coverage(reading, start, end, settings.max_gap)),
    )


def _coverage(
    reading: Reading, start: float, end: float, max_gap: float
) -> Iterable[str]:
    """Say where the samples do not reach the ends of the windows."""
    if reading.first is not None and reading.first - start > max_gap:
        yield (
            f"the oldest sample is from {show_time(reading.first)}, "
            f"{show_duration(reading.first - start)} after the window's start: "
            "scraping began later, or Prometheus' retention is shorter"
        )
    if reading.last is not None and end - reading.last > max_gap:
        yield (
            f"the newest sample is from {show_time(reading.last)}, "
            f"{show_duration(end - reading.last)} before the window's end"
        )
