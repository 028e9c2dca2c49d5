"""``deploy`` and ``replay``: judge one deploy now, from a server or a saved answer."""

from __future__ import annotations

import argparse
import os
import time

from ..assembly import GRAFANA_MISSING, Systems
from ..errors import ConfigurationError
from ..model import Deploy, Report, Settings
from ..service.evaluate import examine, examine_at_every_look
from ..settings.schema import ENGINES, EngineConfig, load
from ..sinks.json import to_json
from ..sinks.text import to_table
from ..sources.captures import Capture
from ..sources.profiles import PROFILES
from ..units import parse_share
from .arguments import (
    DECISION_CODES,
    PROGRAM,
    Commands,
    add_command,
    add_config,
    add_format,
    add_moment,
    add_profile,
    add_window,
    reader,
)
from .output import exit_code, say
from .selection import engine_with, known_overlapping, must_have_passed


def add_deploy(commands: Commands) -> None:
    """Add the command ``deploy``."""
    parser = add_command(
        commands,
        "deploy",
        deploy,
        "Judge one deploy now and print the verdicts.",
        DECISION_CODES,
        f"{PROGRAM} deploy --at 2026-11-29T14:05:00Z --service shop",
    )
    add_config(parser)
    add_moment(parser, "--at", required=True)
    for name in ("service", "environment", "version"):
        parser.add_argument(
            f"--{name}", default="", metavar="NAME", help=f"{name} that was deployed"
        )
    add_window(parser)
    _add_output(parser)
    parser.add_argument(
        "--annotate",
        action="store_true",
        help="also write the verdict to Grafana, unless it is there already",
    )


def add_replay(commands: Commands) -> None:
    """Add the command ``replay``."""
    parser = add_command(
        commands,
        "replay",
        replay,
        "Judge a saved answer of Prometheus; needs no server.",
        DECISION_CODES,
        "curl -s http://localhost:9090/api/v1/query "
        "--data-urlencode 'query={__name__=~\"pg_stat_statements_.*\"}[5h]' "
        "> capture.json\n"
        f"  {PROGRAM} replay capture.json --deploy-time 2026-11-29T14:05:00Z",
    )
    parser.add_argument(
        "capture",
        metavar="CAPTURE",
        help="file with the JSON that /api/v1/query answers to a range selector; "
        "- is standard input",
    )
    add_moment(parser, "--deploy-time", required=True)
    parser.add_argument(
        "--engine",
        default=ENGINES[0],
        choices=ENGINES,
        help=f"default {ENGINES[0]}, which learns the noise from what the capture "
        "holds before the window",
    )
    add_profile(parser)
    add_window(parser)
    parser.add_argument(
        "--max-unjudged",
        default=Settings().max_unjudged,
        type=reader(parse_share),
        metavar="SHARE",
        help="largest share of the execution time after the deploy that may go "
        "unjudged in a clear report; default %(default)s",
    )
    parser.add_argument(
        "--looks",
        action="store_true",
        help="judge at every look that `run` takes; what an early one detects stands; "
        "default: once, at the end of the window",
    )
    _add_output(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    add_format(parser)
    parser.add_argument(
        "--all",
        action="store_true",
        dest="everything",
        help="list the queries that are not slower in the table, too",
    )


def deploy(options: argparse.Namespace) -> int:
    """Judge one deploy now."""
    config = load(options.config_file)
    settings = engine_with(config.engine, window=options.window).settings()
    subject = Deploy(
        id="-".join(filter(None, ("manual", options.service, f"{options.at:.0f}"))),
        at=options.at,
        service=options.service,
        environment=options.environment,
        version=options.version,
        source="command line",
    )
    must_have_passed(subject.at, settings.window)
    systems = Systems(config, os.environ)
    annotations = systems.annotations
    if options.annotate and annotations is None:
        raise ConfigurationError(GRAFANA_MISSING)
    report = examine(
        subject,
        systems.read,
        settings,
        time.time,
        around=systems.around,
        others=known_overlapping(systems, subject, settings.window),
    )
    _print(report, options)
    if options.annotate and annotations is not None:
        annotations.publish(report)
    return exit_code(report)


def replay(options: argparse.Namespace) -> int:
    """Judge a saved answer of Prometheus."""
    engine = engine_with(
        EngineConfig(engine=options.engine, max_unjudged=options.max_unjudged),
        window=options.window,
    )
    subject = Deploy(
        id=f"replay-{options.at:.0f}", at=options.at, source=options.capture
    )
    capture = Capture(options.capture, PROFILES[options.profile])
    judged = examine_at_every_look if options.looks else examine
    report = judged(
        subject,
        lambda _, start, end: capture.read(start, end),
        engine.settings(),
        time.time,
        around=lambda _, start, end, __: capture.surroundings(start, end),
    )
    _print(report, options)
    return exit_code(report)


def _print(report: Report, options: argparse.Namespace) -> None:
    text = (
        to_json(report)
        if options.format == "json"
        else to_table(report, everything=options.everything)
    )
    say(text)
