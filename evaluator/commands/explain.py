"""``explain``: how the verdict on one query came about."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ..assembly import Systems
from ..errors import ConfigurationError
from ..model import Deploy, QueryIntervals, QueryKey, Settings
from ..service.evaluate import Around, examine
from ..settings.schema import Config, EngineConfig, load
from ..settings.validation import nearest
from ..sources.captures import Capture
from ..sources.profiles import PROFILES
from ..sources.readings import Reading
from ..sources.surroundings import Found
from ..units import parse_time, show_duration
from .arguments import (
    EXIT_CODES,
    PROGRAM,
    Commands,
    add_command,
    add_config,
    add_engine,
    add_moment,
    add_profile,
    add_service,
    add_window,
)
from .explanation import chosen_verdicts, intervals_of, print_explanation
from .selection import engine_with, known_overlapping, must_have_passed
from .stored import explain_stored, stored


@dataclass(frozen=True, slots=True)
class _Case:
    """One deploy, and the sources of what is known about it."""

    deploy: Deploy
    settings: Settings
    read: Callable[[Deploy, float, float], Reading]
    around: Around
    others: Sequence[Deploy] = ()


def add_explain(commands: Commands) -> None:
    """Add the command ``explain``."""
    parser = add_command(
        commands,
        "explain",
        explain,
        "Show for one query how the verdict came about: seven steps and a plot.",
        f"{EXIT_CODES}.",
        f"{PROGRAM} explain -1234567890123456789 --deploy 2026-11-29T14:05:00Z\n"
        f"  {PROGRAM} explain 42 --deploy grafana-17\n"
        f"  {PROGRAM} explain 42 --capture capture.json "
        "--deploy-time 2026-11-29T14:05:00Z",
    )
    add_config(parser)
    parser.add_argument("queryid", metavar="QUERYID", help="as in pg_stat_statements")
    moment = parser.add_mutually_exclusive_group(required=True)
    moment.add_argument(
        "--deploy",
        metavar="TIME|ID",
        help="when it happened: ISO 8601 (UTC where no zone is given) or Unix seconds; "
        "or its id such as grafana-17, as `run` logs it",
    )
    add_moment(moment, "--deploy-time", meaning="the same, a time only")
    parser.add_argument(
        "--capture",
        metavar="FILE",
        help="read a saved answer of Prometheus instead, as `replay` does",
    )
    add_service(parser, "with a time: judge among the series of this service")
    add_engine(parser)
    add_profile(parser)
    add_window(parser)


def explain(options: argparse.Namespace) -> int:
    """Print the seven steps for each query with the id that was asked for."""
    if (judged := stored(options)) is not None:
        return explain_stored(options.queryid, *judged)
    case = _from_systems(options) if options.capture is None else _from_capture(options)
    deploy, settings = case.deploy, case.settings
    kept = _Kept(case)
    report = examine(
        deploy,
        kept.read,
        settings,
        time.time,
        around=kept.around,
        others=case.others,
    )
    verdicts = chosen_verdicts(options.queryid, report)
    return print_explanation(report, verdicts, kept.intervals(deploy, settings))


class _Kept:
    """Remembers what was read for the judgement, since the plot shows the same."""

    def __init__(self, case: _Case) -> None:
        self._case = case
        self._reading = Reading()
        self._found = Found()

    def read(self, deploy: Deploy, start: float, end: float) -> Reading:
        self._reading = self._case.read(deploy, start, end)
        return self._reading

    def around(
        self, deploy: Deploy, start: float, end: float, instances: Collection[str]
    ) -> Found:
        self._found = self._case.around(deploy, start, end, instances)
        return self._found

    def intervals(
        self, deploy: Deploy, settings: Settings
    ) -> Mapping[QueryKey, QueryIntervals]:
        """What was judged of each query, inside the windows."""
        return intervals_of(self._reading, self._found.fingerprints, deploy, settings)


def _from_capture(options: argparse.Namespace) -> _Case:
    at = options.at if options.at is not None else _time(options.deploy)
    if at is None:
        raise ConfigurationError(
            f"--deploy: {options.deploy!r} is not a time, and a capture has no ids; "
            "expected a time such as 2026-11-29T14:05:00Z or Unix seconds"
        )
    capture = Capture(options.capture, PROFILES[options.profile])
    engine = engine_with(EngineConfig(), window=options.window, name=options.engine)
    return _Case(
        Deploy(id=f"replay-{at:.0f}", at=at, source=options.capture),
        engine.settings(),
        lambda _, start, end: capture.read(start, end),
        lambda _, start, end, __: capture.surroundings(start, end),
    )


def _from_systems(options: argparse.Namespace) -> _Case:
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
    others = known_overlapping(systems, deploy, settings.window)
    return _Case(deploy, settings, systems.read, systems.around, others)


def _time(text: str) -> float | None:
    """*text* as a time; None when it is an id.

    Raises:
        ConfigurationError: a number that is not a time in Unix seconds.
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
