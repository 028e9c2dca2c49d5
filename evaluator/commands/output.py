"""Answers on standard output, in characters that it can write, and the exit code."""

from __future__ import annotations

import sys

from ..model import DecisionKind, Report
from ..sinks.phrases import writable

_CODES = {
    DecisionKind.CLEAR: 0,
    DecisionKind.REGRESSED: 1,
    DecisionKind.FAILED: 3,
    DecisionKind.UNDECIDED: 4,
}


def say(text: str) -> None:
    """Print *text*, in ASCII where standard output can write no more."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(writable(text, encoding), flush=True)  # noqa: T201


def exit_code(report: Report) -> int:
    """Of the decision, as the help of the commands says."""
    return _CODES[report.decision.kind]
