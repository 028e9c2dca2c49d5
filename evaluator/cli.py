"""The command line: which commands there are, and the exit code of each error."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version

from . import logs
from .commands.arguments import DECISION_CODES, PROGRAM
from .commands.backtest import add_backtest
from .commands.check import add_check
from .commands.explain import add_explain
from .commands.judge import add_deploy, add_replay
from .commands.power import add_power
from .commands.run import add_run
from .errors import ConfigurationError, PgverdictError

# In the order of --help: the service, one deploy, the evaluator itself.
COMMANDS = (
    add_run,
    add_check,
    add_deploy,
    add_replay,
    add_explain,
    add_backtest,
    add_power,
)
CLEAR, DETECTED, USAGE, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    logs.set_up(options.log_level, options.log_format)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except ConfigurationError as error:
        return _complain(error, USAGE)
    except PgverdictError as error:
        return _complain(error, UNREACHABLE)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; that is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAR


def _complain(error: PgverdictError, code: int) -> int:
    for line in str(error).splitlines():
        print(f"{PROGRAM}: {line}", file=sys.stderr)  # noqa: T201
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Find out whether a deploy made a PostgreSQL query slower: "
        "which one, by how much, and how sure that is.",
        epilog=f"{PROGRAM} COMMAND --help shows an example of each. {DECISION_CODES}",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"{PROGRAM} {version('pgverdict')}"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in COMMANDS:
        add(commands)
    return parser
