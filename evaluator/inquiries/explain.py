"""``explain``: how the verdict on one query came about."""

from __future__ import annotations

import argparse
import os
import shutil
import time
from collections.abc import Callable

from ..assembly import Systems
from ..config import Config, EngineConfig, load
from ..engine.intervals import interval_means
from ..errors import ConfigurationError
from ..examination import examine
from ..model import Deploy, Report, Settings
from ..selection import engine_with, must_have_passed
from ..sinks.explanation import explain_verdict
from ..sources.captures import Capture
from ..sources.profiles import PROFILES
from ..sources.readings import Reading
from ..units import parse_time, show_duration
from ..validation import nearest
from .output import say


def explain(options: argparse.Namespace) -> int:
    """Print the seven steps for each query with the id that was asked for."""
    if options.capture is not None:
        deploy, read, settings = _from_capture(options)
    else:
        deploy, read, settings = _from_systems(options)
    kept = _Kept(read)
    report = examine(deploy, kept, settings, time.time)
    verdicts = [one for one in report.verdicts if one.key.queryid == options.queryid]
    if not verdicts:
        raise ConfigurationError(_unknown(options.queryid, report))
    series = {one.key: one for one in kept.reading.series}
    intervals = interval_means(
        [series[verdict.key] for verdict in verdicts],
        deploy.at - settings.window,
        deploy.at + settings.window,
        max_gap=settings.max_gap,
    )
    width = shutil.get_terminal_size().columns
    say(
        "\n\n".join(
            explain_verdict(verdict, one, report, width=width)
            for verdict, one in zip(verdicts, intervals, strict=True)
        )
    )
    for note in report.notes:
        say(f"note: {note}")
    return int(any(verdict in report.detected for verdict in verdicts))


class _Kept:
    """Remembers what was read for the judgement, since the plot shows the same."""

    def __init__(self, read: Callable[[Deploy, float, float], Reading]) -> None:
        self._read = read
        self.reading = Reading()

    def __call__(self, deploy: Deploy, start: float, end: float) -> Reading:
        self.reading = self._read(deploy, start, end)
        return self.reading


def _from_capture(
    options: argparse.Namespace,
) -> tuple[Deploy, Callable[[Deploy, float, float], Reading], Settings]:
    at = options.at
    if at is None:
        at = _time(options.deploy)
    if at is None:
        raise ConfigurationError(
            f"--deploy: {options.deploy!r} is no time, and a capture knows no ids; "
            "expected a time such as 2026-11-29T14:05:00Z or Unix seconds"
        )
    capture = Capture(options.capture, PROFILES[options.profile])
    engine = engine_with(EngineConfig(), window=options.window, name=options.engine)

    def read(_: Deploy, start: float, end: float) -> Reading:
        return capture.read(start, end)

    one = Deploy(id=f"replay-{at:.0f}", at=at, source=options.capture)
    return one, read, engine.settings()


def _from_systems(
    options: argparse.Namespace,
) -> tuple[Deploy, Callable[[Deploy, float, float], Reading], Settings]:
    config = load(options.config_file)
    engine = engine_with(config.engine, window=options.window, name=options.engine)
    settings = engine.settings()
    systems = Systems(config, os.environ)
    at = options.at if options.at is not None else _time(options.deploy)
    if at is None:
        deploy = _named(options.deploy, config, systems)
    else:
        deploy = Deploy(
            id=f"manual-{at:.0f}",
            at=at,
            service=options.service,
            source="command line",
        )
    must_have_passed(deploy.at, settings.window, "--deploy")
    return deploy, systems.read, settings


def _time(text: str) -> float | None:
    """*text* as a time; None when it is an id.

    Raises:
        ConfigurationError: a number that is no time in Unix seconds.
    """
    try:
        return parse_time(text)
    except ValueError as error:
        if text.replace(".", "", 1).isdigit():
            raise ConfigurationError(f"--deploy: {error}") from None
        return None


def _named(name: str, config: Config, systems: Systems) -> Deploy:
    """The deploy with this id among those that a running evaluator would know."""
    now = time.time()
    span = max(float(config.service.lookback), float(config.service.retention))
    deploys = {mark.deploy.id: mark.deploy for mark in systems.find(now - span, now)}
    if name in deploys:
        return deploys[name]
    known = nearest(name, deploys) if deploys else "; there was none"
    raise ConfigurationError(
        f"--deploy: {name!r} is neither a time such as 2026-11-29T14:05:00Z nor a "
        f"deploy of the last {show_duration(span)}{known}"
    )


def _unknown(queryid: str, report: Report) -> str:
    """Which ids there are, the costliest first."""
    costliest = sorted(
        report.verdicts, key=lambda one: (-one.after.seconds, one.key.queryid)
    )
    known = list(dict.fromkeys(one.key.queryid for one in costliest))
    listed = ", ".join(known[:5]) + (" …" if len(known) > 5 else "")
    return (
        f"QUERYID: no query {queryid} around this deploy; the costliest are "
        f"{listed or 'none'}"
    )
