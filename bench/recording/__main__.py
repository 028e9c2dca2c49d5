"""Record a real server, or judge a recording: ``python -m bench.recording``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from evaluator.model import Settings
from evaluator.settings.schema import ENGINES

from .placebos import placebos, report
from .record import Plan, record
from .schedule import HOUR, MINUTE


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, or judge and print."""
    parser = argparse.ArgumentParser(prog="bench.recording", description=__doc__)
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record", help="scrape a real server every 15 s")
    recording.add_argument("pages", type=Path, help="file to append the pages to")
    recording.add_argument("--hours", type=float, default=3.0, help="that it covers")
    recording.add_argument(
        "--speed", type=float, default=1.0, help="a time-lapse: 6 for an hour in 10 min"
    )
    recording.add_argument("--rate", type=float, default=120.0, help="calls a second")
    recording.add_argument("--seed", type=int, default=0, help="another schedule")
    recording.set_defaults(run=_record)
    judging = commands.add_parser("judge", help="placebo deploys in a recording")
    judging.add_argument("pages", type=Path, nargs="+", help="files of recordings")
    judging.add_argument("--every", type=float, default=5.0, help="minutes")
    judging.add_argument("--engine", default=ENGINES[0], choices=ENGINES)
    judging.set_defaults(run=_judge)
    chosen = parser.parse_args(arguments)
    chosen.run(chosen)


def _record(chosen: argparse.Namespace) -> None:
    plan = Plan(chosen.hours * HOUR, chosen.speed, chosen.rate, chosen.seed)
    record(chosen.pages, plan)


def _judge(chosen: argparse.Namespace) -> None:
    settings = Settings(engine=chosen.engine)
    for path in chosen.pages:
        found = list(placebos(path, settings, every=chosen.every * MINUTE))
        print(report(found, path.stem), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
