"""Where answers go: standard output, in characters that it can write."""

from __future__ import annotations

import sys

from ..sinks.phrases import writable


def say(text: str) -> None:
    """Print *text*, in ASCII where standard output knows no more."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(writable(text, encoding), flush=True)  # noqa: T201
