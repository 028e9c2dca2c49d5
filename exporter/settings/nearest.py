"""The name that a misspelt one was probably meant to be. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


def nearest(name: str, names: Sequence[str]) -> str:
    """``; did you mean "…"?`` if *name* is nearly one of *names*, otherwise empty."""
    close = get_close_matches(name, names, n=1)
    return f'; did you mean "{close[0]}"?' if close else ""
