"""Answers on standard output, in characters that it can write, and the exit code."""

from __future__ import annotations

import sys

from ..model import DecisionKind, Report
from ..sinks.phrases import writable


def say(text: str) -> None:
    """Print *text*, in ASCII where standard output can write no more."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(writable(text, encoding), flush=True)  # noqa: T201


def exit_code(report: Report) -> int:
    """1 when a regression was detected, else 0, as the help of the commands says."""
    return int(report.decision.kind is DecisionKind.REGRESSED)
