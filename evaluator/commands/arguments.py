"""What all commands share: their help, exit codes, and common options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from .. import logs
from ..model import Settings
from ..settings.schema import DEFAULT_PROFILE, ENGINES
from ..sources.profiles import PROFILES
from ..units import parse_duration, parse_time, write_duration

PROGRAM = "pgverdict-evaluator"

EXIT_CODES = (
    "Exit codes: 0 no regression, 1 a regression was detected, 2 configuration or "
    "usage, 3 a system could not be reached or gave an unusable answer"
)
# Of the commands that judge a whole deploy.
DECISION_CODES = (
    f"{EXIT_CODES}, 4 undecided: too much of the execution time could not be judged."
)

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_command(
    commands: Commands,
    name: str,
    function: Callable[[argparse.Namespace], int],
    summary: str,
    exit_codes: str,
    example: str,
) -> argparse.ArgumentParser:
    """Add a command with a line on what it does, its exit codes, and an example."""
    parser = commands.add_parser(
        name,
        # argparse would interpret a percent sign.
        help=summary.replace("%", "%%"),
        description=summary,
        epilog=f"{exit_codes}\n\nExample:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=function)
    parser.add_argument(
        "--log.level", dest="log_level", default="info", choices=logs.LEVELS
    )
    parser.add_argument(
        "--log.format", dest="log_format", default="logfmt", choices=logs.FORMATS
    )
    return parser


def add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config.file",
        dest="config_file",
        type=Path,
        default=Path("evaluator.yml"),
        metavar="FILE",
        help="YAML; default evaluator.yml in this folder",
    )


def add_profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        default=DEFAULT_PROFILE,
        choices=sorted(PROFILES),
        help=f"whose metric names the capture has; default {DEFAULT_PROFILE}",
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help=f"default: that of the configuration, {ENGINES[0]} where none is read",
    )


def add_service(parser: argparse.ArgumentParser, purpose: str) -> None:
    parser.add_argument(
        "--service", default="", metavar="NAME", help=f"{purpose}, as configured"
    )


def add_window(parser: argparse.ArgumentParser) -> None:
    add_duration(
        parser,
        "--window",
        "length of each side of the deploy; default: engine.window of the "
        f"configuration, {write_duration(Settings().window)} where none is read",
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("table", "json"), default="table")


def add_duration(
    parser: argparse.ArgumentParser,
    flag: str,
    meaning: str,
    *,
    default: float | None = None,
    required: bool = False,
) -> None:
    """An option such as ``30m``, read as seconds; the help text shows its default."""
    if default is not None:
        meaning += f"; default {write_duration(default)}"
    parser.add_argument(
        flag,
        default=default,
        required=required,
        type=reader(parse_duration),
        metavar="DURATION",
        help=meaning,
    )


def add_moment(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup,
    flag: str,
    *,
    required: bool = False,
    meaning: str = "when it was deployed: ISO 8601 (UTC where no zone is given) or "
    "Unix seconds",
) -> None:
    """The time of the deploy, read as Unix seconds into ``at``."""
    parser.add_argument(
        flag,
        dest="at",
        required=required,
        type=reader(parse_time),
        metavar="TIME",
        help=meaning,
    )


def reader(read: Callable[[str], float]) -> Callable[[str], float]:
    """Make argparse show our own message instead of its 'invalid value'."""

    def convert(text: str) -> float:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert
