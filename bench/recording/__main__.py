"""Record a real server, or judge a recording: ``python -m bench.recording``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .record import Plan, record
from .schedule import HOUR


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
    chosen = parser.parse_args(arguments)
    chosen.run(chosen)


def _record(chosen: argparse.Namespace) -> None:
    plan = Plan(chosen.hours * HOUR, chosen.speed, chosen.rate, chosen.seed)
    record(chosen.pages, plan)


if __name__ == "__main__":
    main()
