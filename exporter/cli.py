"""Command line: read the settings, serve until a signal arrives."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import structlog

from . import logs, tune_memory
from .errors import ConfigurationError
from .metrics.self_metrics import DISTRIBUTION
from .postgres.connecting.connection import parses
from .service import Service
from .settings.load import load
from .settings.nearest import nearest
from .settings.table import SETTINGS, Settings

log = structlog.get_logger()

PROGRAM = "pgverdict-exporter"
EXIT_CONFIGURATION = 2


class _Parser(argparse.ArgumentParser):
    """Raises the problem in other words; argparse's message repeats the argument."""

    def error(self, message: str) -> NoReturn:
        flag = message.partition("argument ")[2].partition(":")[0]
        wrong = "takes no value" if "explicit argument" in message else "needs a value"
        raise ConfigurationError(f"{flag}: {wrong}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        description="Serve pg_stat_statements of a PostgreSQL server to Prometheus.",
        epilog="Exit codes: 0 stopped by a signal, 2 configuration. "
        f"Example: PGVERDICT_DSN=postgresql://pgverdict@localhost/postgres {PROGRAM}",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"{PROGRAM} {version(DISTRIBUTION)}"
    )
    parser.add_argument("--config.file", dest="file", metavar="PATH", help="YAML file")
    parser.add_argument(
        "--dsn",
        metavar="DSN",
        default=argparse.SUPPRESS,
        help="connection string; other users of the machine can see it here, so better "
        "use PGVERDICT_DSN, PGVERDICT_DSN_FILE or libpq's PGHOST, PGPASSFILE …",
    )
    for setting in SETTINGS:
        parser.add_argument(
            setting.flag,
            dest=setting.path,
            metavar=setting.kind.placeholder,
            default=argparse.SUPPRESS,
            help=setting.help,
        )
    return parser


def settings_from(arguments: Sequence[str], environment: dict[str, str]) -> Settings:
    """Read the command line, the environment and the file that it names.

    Raises:
        ConfigurationError: with all problems.
    """
    known, unknown = _parser().parse_known_args(arguments)
    flags = vars(known)
    file = flags.pop("file")
    problems = [_unknown(argument) for argument in unknown]
    try:
        settings = load(flags, environment, Path(file) if file else None, parses=parses)
    except ConfigurationError as error:
        raise ConfigurationError(*problems, *error.problems) from None
    if problems:
        raise ConfigurationError(*problems)
    return settings


def _unknown(argument: str) -> str:
    """The problem, without the argument: it may be part of a connection string."""
    if not argument.startswith("--"):
        return "arguments: a value without a flag; a value with spaces needs quotes"
    flags = ("--dsn", "--config.file", "--version", *(s.flag for s in SETTINGS))
    return f"arguments: unknown flag{nearest(argument.partition('=')[0], flags)}"


def serve(settings: Settings, stop: threading.Event) -> None:
    """Serve until *stop* is set.

    Raises:
        ConfigurationError: the address or the web configuration cannot be used.
    """
    service = Service(settings)
    tune_memory.spare_collections()
    service.start()
    log.info("listening", address=service.address)
    stop.wait()
    log.info("stopping")
    service.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the exporter and return its exit code."""
    tune_memory.keep_small()
    try:
        settings = settings_from(
            sys.argv[1:] if arguments is None else arguments, dict(os.environ)
        )
        logs.set_up(settings.log_level, settings.log_format)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        serve(settings, stop)
    except ConfigurationError as error:
        for problem in error.problems:
            sys.stderr.write(f"{PROGRAM}: {problem}\n")
        return EXIT_CONFIGURATION
    return 0
