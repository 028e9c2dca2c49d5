"""The command line: which words there are, and what ends with which exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version

from . import commands, logs
from .checks import check
from .config import ENGINES
from .errors import ConfigurationError, PgverdictError
from .inquiries.parsers import add_inquiries
from .units import parse_time
from .words import (
    EXIT_CODES,
    PROGRAM,
    Words,
    add_config,
    add_format,
    add_profile,
    add_window,
    add_word,
    reader,
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
        # The reader of our output went away, as `head` does; that is no error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAR


def _complain(error: PgverdictError, code: int) -> int:
    for line in str(error).splitlines():
        print(f"{PROGRAM}: {line}", file=sys.stderr)  # noqa: T201
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Tell whether a deploy made a PostgreSQL query slower: "
        "which one, by how much, and how sure that is.",
        epilog=f"{PROGRAM} COMMAND --help shows an example of each. {EXIT_CODES}",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"{PROGRAM} {version('pgverdict')}"
    )
    words = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_run(words)
    _add_deploy(words)
    _add_replay(words)
    _add_check(words)
    add_inquiries(words)
    return parser


def _add_run(words: Words) -> None:
    run = add_word(
        words,
        "run",
        commands.run,
        "Watch for deploys and judge each when its window has passed.",
        "Exit codes: 0 stopped by a signal, 2 configuration or usage.",
        f"{PROGRAM} run --config.file=evaluator.yml",
    )
    add_config(run)
    run.add_argument(
        "--web.listen-address",
        dest="listen_address",
        metavar="HOST:PORT",
        help="where /metrics is served; default :9720",
    )
    run.add_argument(
        "--web.telemetry-path",
        dest="telemetry_path",
        metavar="PATH",
        help="default /metrics",
    )


def _add_deploy(words: Words) -> None:
    deploy = add_word(
        words,
        "deploy",
        commands.deploy,
        "Judge one deploy now and print the verdicts.",
        EXIT_CODES,
        f"{PROGRAM} deploy --at 2026-11-29T14:05:00Z --service shop",
    )
    add_config(deploy)
    deploy.add_argument(
        "--at",
        required=True,
        type=reader(parse_time),
        metavar="TIME",
        help="when it happened: ISO 8601 (UTC where no zone is given) or Unix seconds",
    )
    for name in ("service", "environment", "version"):
        deploy.add_argument(f"--{name}", default="", help=f"{name} that was deployed")
    add_window(deploy)
    _add_output(deploy)
    deploy.add_argument(
        "--annotate",
        action="store_true",
        help="also write the verdict to Grafana, unless it stands there already",
    )


def _add_replay(words: Words) -> None:
    replay = add_word(
        words,
        "replay",
        commands.replay,
        "Judge a saved answer of Prometheus; needs no server.",
        EXIT_CODES,
        "curl -s http://localhost:9090/api/v1/query "
        "--data-urlencode 'query={__name__=~\"pg_stat_statements_.*\"}[5h]' "
        "> capture.json\n"
        f"  {PROGRAM} replay capture.json --deploy-time 2026-11-29T14:05:00Z",
    )
    replay.add_argument(
        "capture",
        metavar="CAPTURE",
        help="file with the JSON that /api/v1/query answers to a range selector; "
        "- is standard input",
    )
    replay.add_argument(
        "--deploy-time",
        required=True,
        dest="at",
        type=reader(parse_time),
        metavar="T",
        help="ISO 8601 (UTC where no zone is given) or Unix seconds",
    )
    replay.add_argument(
        "--engine",
        default=ENGINES[0],
        choices=ENGINES,
        help=f"default {ENGINES[0]}, which learns the noise from what the capture "
        "holds before the window",
    )
    add_profile(replay)
    add_window(replay)
    _add_output(replay)


def _add_check(words: Words) -> None:
    checking = add_word(
        words,
        "check",
        check,
        "Check the configuration, and that each system can be reached and used.",
        "Exit codes: 0 all is well, 2 configuration or usage, "
        "3 a system could not be reached or may not be used.",
        f"{PROGRAM} check --config.file=evaluator.yml",
    )
    add_config(checking)
    checking.add_argument(
        "--syntax-only",
        action="store_true",
        help="read the configuration and its secrets, reach for nothing",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    add_format(parser)
    parser.add_argument(
        "--all",
        action="store_true",
        dest="everything",
        help="list the queries without a finding in the table, too",
    )
