"""``check``: is the configuration right, and can and may each system be used?"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator

from ..assembly import Systems
from ..errors import SourceError
from ..settings.schema import Config, load
from ..units import show_duration, show_time
from .arguments import PROGRAM, Commands, add_command, add_config
from .output import say

# How many of the newest annotations are shown as they would be read.
_EXAMPLES = 5


def add_check(commands: Commands) -> None:
    """Add the command ``check``."""
    parser = add_command(
        commands,
        "check",
        check,
        "Check the configuration, and that each system can be reached and used.",
        "Exit codes: 0 all is well, 2 configuration or usage, "
        "3 a system could not be reached or may not be used.",
        f"{PROGRAM} check --config.file=evaluator.yml",
    )
    add_config(parser)
    parser.add_argument(
        "--syntax-only",
        action="store_true",
        help="read the configuration and its secrets, reach for nothing",
    )


def check(options: argparse.Namespace) -> int:
    """Print a line for each thing looked at; every one is looked at."""
    config = load(options.config_file)
    systems = Systems(config, os.environ)
    _say("ok", f"configuration: {options.config_file}")
    if options.syntax_only:
        return 0
    steps: list[Callable[[Config, Systems], Iterator[str]]] = [_prometheus]
    if config.grafana is None:
        _say("note", "grafana: not configured; `run` needs it, `deploy` does not")
    else:
        steps.append(_grafana)
    clean = [_attempt(step, config, systems) for step in steps]
    return 0 if all(clean) else 3


def _attempt(
    step: Callable[[Config, Systems], Iterator[str]], config: Config, systems: Systems
) -> bool:
    try:
        for line in step(config, systems):
            _say("ok", line)
    except SourceError as error:
        _say("FAILED", str(error))
        return False
    return True


def _prometheus(config: Config, systems: Systems) -> Iterator[str]:
    for service in ("", *config.services):
        where = f"prometheus, service {service}" if service else "prometheus"
        found = systems.prometheus_for(service).check(time.time())
        if found.problems or found.warnings:
            raise SourceError(f"{where}: {'; '.join(found.problems + found.warnings)}")
        interval = show_duration(found.scrape_interval or 0.0)
        yield (
            f"{where}: raw samples of {found.queries} queries, every {interval}, "
            f"the newest {show_duration(found.newest_age or 0.0)} old"
        )
        # Scrapes are a few milliseconds early or late.
        fits = round(config.engine.window / (found.scrape_interval or 1.0))
        if fits < config.engine.min_samples:
            raise SourceError(
                f"{where}: a window of {show_duration(config.engine.window)} holds "
                f"{fits} intervals of {interval}, fewer than engine.min_samples "
                f"({config.engine.min_samples}); scrape more often or widen the window"
            )


def _grafana(config: Config, systems: Systems) -> Iterator[str]:
    now = time.time()
    marks = systems.find(now - config.service.lookback, now)
    yield "grafana: annotations can be read"
    yield (
        f"deploys: {len(marks)} in the last {show_duration(config.service.lookback)}"
        + ("" if marks else "; is the tag filter right?")
    )
    for mark in marks[-_EXAMPLES:]:
        deploy = mark.deploy
        yield (
            f"deploys: {show_time(deploy.at)} service={deploy.service or '?'} "
            f"environment={deploy.environment or '?'} version={deploy.version or '?'}"
        )
    if not systems.grafana.may_write():
        raise SourceError(
            "grafana: the token may not write annotations; "
            "give its service account the role Editor"
        )
    yield "grafana: annotations can be written"


def _say(state: str, line: str) -> None:
    say(f"{state:6} {line}")
