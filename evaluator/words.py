"""What every word of the command line has: its help, and options that several share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from . import logs
from .sources.profiles import PROFILES
from .units import parse_duration

PROGRAM = "pgverdict-evaluator"

EXIT_CODES = (
    "Exit codes: 0 nothing detected, 1 a regression was detected, 2 configuration or "
    "usage, 3 a system could not be reached or answered nonsense."
)

Words: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_word(
    words: Words,
    name: str,
    function: Callable[[argparse.Namespace], int],
    summary: str,
    exit_codes: str,
    example: str,
) -> argparse.ArgumentParser:
    """One word: a line on what it does, its exit codes, an example that works."""
    parser = words.add_parser(
        name,
        help=summary,
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
        default="pgverdict",
        choices=sorted(PROFILES),
        help="whose metric names the capture has; default pgverdict",
    )


def add_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--window",
        type=reader(parse_duration),
        metavar="DURATION",
        help="length of each side of the deploy; default 30m",
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("table", "json"), default="table")


def reader(read: Callable[[str], float]) -> Callable[[str], float]:
    """Give argparse our own sentence instead of its 'invalid value'."""

    def convert(text: str) -> float:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert
