"""``backtest``: false alarms of the engines in the user's own history."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import structlog

from ..assembly import Systems
from ..backtest.rolling import RollingCounters
from ..backtest.run import Plan, Tally, judge_moments, plan
from ..errors import ConfigurationError, NoDataError, SourceError
from ..model.backtest import BacktestReport
from ..settings.schema import ENGINES, Config, load
from ..sinks.backtest import to_json, to_table
from ..sources.readings import Reading
from ..units import show_duration, show_time
from .arguments import (
    PROGRAM,
    Commands,
    add_command,
    add_config,
    add_duration,
    add_format,
    add_service,
    add_window,
)
from .output import say
from .selection import engine_with

log = structlog.get_logger()

# Progress is logged about this often over the whole run.
_LOGGED = 20
_BOTH = "both"


def add_backtest(commands: Commands) -> None:
    """Add the command ``backtest``."""
    parser = add_command(
        commands,
        "backtest",
        backtest,
        "Judge moments at which nothing was deployed, and count the false alarms.",
        "Exit codes: 0 done, 2 configuration or usage, 3 a system could not be reached "
        "or answered nonsense, 130 interrupted. What is known so far is printed first.",
        f"{PROGRAM} backtest --since 7d --config.file=evaluator.yml",
    )
    add_config(parser)
    add_duration(parser, "--since", "how far back to look, such as 7d", required=True)
    add_duration(
        parser,
        "--every",
        "time between two moments; moments closer than two windows share samples and "
        "count for less",
        default=3600.0,
    )
    parser.add_argument(
        "--engine",
        default=_BOTH,
        choices=(*ENGINES, _BOTH),
        help="default %(default)s",
    )
    parser.add_argument(
        "--looks",
        action="store_true",
        help="judge each moment at every look that `run` takes, not only at the end of "
        "the window; five times the work",
    )
    add_service(parser, "judge the series of this service only")
    add_window(parser)
    add_format(parser)


def backtest(options: argparse.Namespace) -> int:
    """Judge many moments at which nothing was deployed."""
    config = load(options.config_file)
    settings = engine_with(config.engine, window=options.window).settings()
    engines = ENGINES if options.engine == _BOTH else (options.engine,)
    systems = Systems(config, os.environ)
    source = systems.prometheus_for(options.service)

    def read(start: float, end: float) -> Reading:
        # Only the verdict counts here, so rows and blocks are not read.
        return source.read(start, end, detail_from=end)

    moments, notes = _plan(config, systems, options, settings.window)
    if not options.looks:
        notes += (
            "judged once, at the end of the window, as `deploy` and `replay` do; "
            "--looks judges as `run` does",
        )
    past = max(settings.window, settings.history)
    counters = RollingCounters(read, moments.moments[0] - past)
    tally = Tally(moments, settings, engines)

    def so_far() -> BacktestReport:
        return tally.report(counters.seen, notes)

    try:
        for moment in judge_moments(
            moments.moments, counters, settings, engines, looks=options.looks
        ):
            tally.add(moment)
            _progress(tally.judged, len(moments.moments), moment.at)
    except (KeyboardInterrupt, SourceError):
        if tally.judged:
            _print(so_far(), options.format)
        raise
    if not counters.seen:
        raise NoDataError(
            f"prometheus: no sample of any query in the last "
            f"{show_duration(options.since)}; `check` shows why"
        )
    _print(so_far(), options.format)
    return 0


def _plan(
    config: Config, systems: Systems, options: argparse.Namespace, window: float
) -> tuple[Plan, tuple[str, ...]]:
    """The moments, and notes on what they may include."""
    now = time.time()
    first = now - options.since
    last = now - window - config.service.settle
    if last < first:
        raise ConfigurationError(
            f"--since: {show_duration(options.since)} holds no window of "
            f"{show_duration(window)} that has passed; look further back, such as 7d"
        )
    deploys: list[float] = []
    notes: tuple[str, ...] = ()
    if config.grafana is None:
        notes = (
            "grafana is not configured, so moments near a deploy could not be left "
            "out: real regressions count as false alarms here",
        )
    else:
        marks = systems.find(first - window, last + window)
        deploys = [mark.deploy.at for mark in marks]
    planned = plan(first, last, options.every, window, deploys)
    if not planned.moments:
        raise ConfigurationError(
            f"--since: each of the {planned.near_deploys} moments in the last "
            f"{show_duration(options.since)} is less than {show_duration(window)} from "
            "a known deploy; look further back, or take a shorter --window"
        )
    return planned, notes


def _progress(done: int, all_: int, at: float) -> None:
    if done == all_ or done % max(1, all_ // _LOGGED) == 0:
        log.info("moments judged", done=f"{done}/{all_}", at=show_time(at))


def _print(report: BacktestReport, form: str) -> None:
    write: Callable[[BacktestReport], str] = to_json if form == "json" else to_table
    say(write(report))
