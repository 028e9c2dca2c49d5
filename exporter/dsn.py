"""Connection strings: where they come from, and whether they are ones.

Nothing of a connection string is ever shown. A password that was not escaped slides
into the host or the database, so even these may be parts of it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .database import understands

Dsn = Callable[[], str]

EXAMPLE = "postgresql://pgverdict@localhost:5432/postgres"
_SCHEMES = ("postgresql://", "postgres://")


def wrong_with(dsn: str) -> str | None:
    """What is wrong with *dsn* and what would be right; None when it can be used.

    The empty string is right: libpq then looks at PGHOST and its sisters.
    """
    if "\x00" in dsn:
        return "has a zero byte"
    if "://" in dsn.partition("=")[0] or dsn.startswith(_SCHEMES):
        if not dsn.startswith(_SCHEMES):
            return f"no scheme of PostgreSQL; for example {EXAMPLE}"
        if _stray_separator(dsn.partition("://")[2]):
            return (
                "user or password has an '@', '/', '?' or '#' of its own; "
                "write these as %40, %2F, %3F, %23"
            )
    if not understands(dsn):
        return (
            "libpq does not understand it; "
            f"for example {EXAMPLE} or host=localhost user=pgverdict; "
            "a value with blanks needs quotes: password='…'"
        )
    return None


def _stray_separator(rest: str) -> bool:
    """Whether an @ stands anywhere but between the user and the host."""
    before, _, after = rest.partition("@")
    return "@" in after or ("@" in rest and any(c in before for c in "/?#"))


def fixed(dsn: str) -> Dsn:
    """The same string for each connection."""
    return lambda: dsn


def from_file(path: Path) -> Dsn:
    """The file's content, read anew for each connection: secrets are rotated."""
    return lambda: path.read_text(encoding="utf-8").strip()


def wrong_with_file(path: Path) -> str | None:
    """What is wrong with a file that should hold a connection string."""
    try:
        dsn = from_file(path)()
    except OSError as error:
        return f"{path}: {error.strerror}"
    except UnicodeError:
        return f"{path}: no UTF-8 text"
    wrong = wrong_with(dsn)
    return f"{path}: {wrong}" if wrong else None
