"""Connection strings: where they come from, and whether they can be used.

Nothing of a connection string is ever shown. If a password was not escaped, a part of
it is read as the host or the database, so not even these can be shown.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Dsn = Callable[[], str]
# Whether libpq can parse a connection string. Passed in, so that reading the settings
# does not load the driver.
Parses = Callable[[str], bool]

EXAMPLE = "postgresql://pgverdict@localhost:5432/postgres"
_SCHEMES = ("postgresql://", "postgres://")


def wrong_with(dsn: str, parses: Parses) -> str | None:
    """What is wrong with *dsn* and what would be right; None when it can be used.

    The empty string is right: libpq then uses PGHOST and the like.
    """
    if "\x00" in dsn:
        return "contains a zero byte"
    if "://" in dsn.partition("=")[0] or dsn.startswith(_SCHEMES):
        if not dsn.startswith(_SCHEMES):
            return f"not a PostgreSQL URL; for example {EXAMPLE}"
        if _stray_separator(dsn.partition("://")[2]):
            return (
                "user or password contains '@', '/', '?' or '#'; "
                "write these as %40, %2F, %3F, %23"
            )
    if not parses(dsn):
        return (
            "libpq cannot parse it; "
            f"for example {EXAMPLE} or host=localhost user=pgverdict; "
            "a value with spaces needs quotes: password='…'"
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
    """The file's content, read again for each connection, as secrets are rotated."""
    return lambda: path.read_text(encoding="utf-8").strip()


def wrong_with_file(path: Path, parses: Parses) -> str | None:
    """What is wrong with a file that should hold a connection string."""
    try:
        dsn = from_file(path)()
    except OSError as error:
        return f"{path}: {error.strerror}"
    except UnicodeError:
        return f"{path}: not UTF-8 text"
    wrong = wrong_with(dsn, parses)
    return f"{path}: {wrong}" if wrong else None
