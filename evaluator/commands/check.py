"""``check``: is the configuration right, and can and may each system be used?"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from functools import partial

from ..assembly import Systems
from ..errors import SourceError
from ..service.obstacles import few_calls, obstacles, short_history
from ..settings.schema import Config, load
from ..triggers.port import Trigger
from ..units import show_duration, show_time
from .arguments import PROGRAM, Commands, add_command, add_config
from .output import say

# How many of the newest marks are shown as they are read.
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
        help="only read the configuration and its secrets; contact no system",
    )


def check(options: argparse.Namespace) -> int:
    """Print a line for each thing checked; a failure ends only its own check."""
    config = load(options.config_file)
    systems = Systems(config, os.environ)
    _say("ok", f"configuration: {options.config_file}")
    if options.syntax_only:
        return 0
    clean = [_attempt(partial(_prometheus, config, systems))]
    if not systems.triggers:
        _say("note", "triggers: none; `run` needs one: configure grafana")
    triggers = [
        _attempt(partial(_trigger, trigger, config.service.lookback))
        for trigger in systems.triggers
    ]
    clean += triggers
    # Where annotations cannot be read, the same error would be reported twice.
    if config.grafana is not None and all(triggers):
        clean.append(_attempt(partial(_annotations, systems)))
    return 0 if all(clean) else 3


def _attempt(step: Callable[[], Iterator[str]]) -> bool:
    try:
        for line in step():
            _say("ok", line)
    except SourceError as error:
        _say("FAILED", str(error))
        return False
    return True


def _prometheus(config: Config, systems: Systems) -> Iterator[str]:
    for service in ("", *config.services):
        where = f"prometheus, service {service}" if service else "prometheus"
        result = systems.prometheus_for(service).check(time.time())
        if problems := result.problems + result.warnings:
            raise SourceError(f"{where}: {'; '.join(problems)}")
        interval = show_duration(result.scrape_interval or 0.0)
        yield (
            f"{where}: raw samples of {result.queries} queries, every {interval}, "
            f"the newest {show_duration(result.newest_age or 0.0)} old"
        )
        settings = config.engine.settings()
        found = [*obstacles(settings, result.scrape_interval or 1.0)]
        if found:
            raise SourceError(f"{where}: {'; '.join(found)}")
        for note in (few_calls(settings, result.most_calls), short_history(settings)):
            if note:
                _say("note", f"{where}: {note}")


def _trigger(trigger: Trigger, lookback: float) -> Iterator[str]:
    now = time.time()
    marks = trigger.marks(now - lookback, now)
    yield (
        f"trigger {trigger.name}: {len(marks)} deploys in the last "
        f"{show_duration(lookback)}{'' if marks else '; is the tag filter right?'}"
    )
    for mark in marks[-_EXAMPLES:]:
        deploy = mark.deploy
        yield (
            f"deploys: {show_time(deploy.at)} service={deploy.service or '?'} "
            f"environment={deploy.environment or '?'} version={deploy.version or '?'}"
        )


def _annotations(systems: Systems) -> Iterator[str]:
    if not systems.grafana.may_write():
        raise SourceError(
            "grafana: the token may not write annotations; "
            "give its service account the role Editor"
        )
    yield "grafana: annotations can be written"


def _say(state: str, line: str) -> None:
    say(f"{state:6} {line}")
