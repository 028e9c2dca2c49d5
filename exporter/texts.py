"""Query texts: what may be shown of them, and the fingerprint. Pure.

The fingerprint comes from PostgreSQL's own parser (libpg_query) and does not change by
constants, spaces or aliases, so that a statement can be followed when its queryid
changes, as it does when a table is made anew or PostgreSQL is upgraded.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping

from .labels import inside
from .snapshot import StatementKey

# Only in these does PostgreSQL replace constants by parameters.
_NORMALISED = re.compile(r"\s*(select|insert|update|delete|merge|with|values)\b", re.I)
_SECRET = re.compile(r"passw|secret|connection|options|token|key", re.I)
HIDDEN = ""


def text_of(cut: str, whole: str | None) -> str:
    """Labels ``fingerprint`` and ``query`` without braces; empty to show nothing.

    Args:
        cut: the text as it may be shown.
        whole: for the fingerprint; None if it is too long to parse.
    """
    if may_hold_secret(cut):
        return HIDDEN
    found = fingerprint_of(whole) if whole else ""
    fingerprint = [("fingerprint", found)] if found else []
    return inside(*fingerprint, ("query", cut))


def may_hold_secret(query: str) -> bool:
    """Whether a constant such as a new password may stand in *query*."""
    return not _NORMALISED.match(query) and bool(_SECRET.search(query))


def fingerprint_of(query: str) -> str:
    """Fingerprint of the normalised statement; empty where the parser gives up."""
    # Only when texts are shown: the parser takes 5 MB.
    from pglast.parser import ParseError, fingerprint

    try:
        return str(fingerprint(query))
    except ParseError:
        return ""


class TextBook:
    """Texts of the statements of one server, kept as long as these are seen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: Mapping[StatementKey, str] = {}

    @property
    def known(self) -> Mapping[StatementKey, str]:
        """Labels of all texts known now; never changed afterwards."""
        return self._known

    def missing(self, keys: Iterable[StatementKey]) -> list[StatementKey]:
        """Those whose text never came."""
        return [key for key in keys if key not in self._known]

    def learn(
        self, found: Mapping[StatementKey, str], *, seen: Iterable[StatementKey]
    ) -> None:
        """Keep what was *found*.

        Args:
            seen: statements that are still there; others are forgotten.
        """
        with self._lock:
            every = {**self._known, **found}
            there = frozenset(seen)
            self._known = {key: text for key, text in every.items() if key in there}
