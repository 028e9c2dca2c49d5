"""Commands in this process."""

from __future__ import annotations

from evaluator.cli import main
from tests.evaluator.test_golden import GOLDEN

GOLDEN_CAPTURE = str(GOLDEN / "capture.json")
CAPTURE = ("--capture", GOLDEN_CAPTURE)
DEPLOY = ("--deploy-time", "1790000000")


def run(*arguments: str) -> object:
    """The exit code, argparse's own exits included."""
    try:
        return main(arguments)
    except SystemExit as stop:
        return stop.code
