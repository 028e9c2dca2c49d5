"""Query texts: what may be shown of them, and the fingerprint. Pure.

The fingerprint comes from PostgreSQL's own parser (libpg_query) and ignores constants,
white space and aliases. With it a statement can be followed when its queryid changes,
as it does when a table is created again or PostgreSQL is upgraded.
"""

from __future__ import annotations

import re

from ..values.snapshot import LabelPairs

# Only in these does PostgreSQL replace constants by parameters.
_NORMALISED = re.compile(r"\s*(select|insert|update|delete|merge|with|values)\b", re.I)
_SECRET = re.compile(r"passw|secret|connection|options|token|key", re.I)
HIDDEN: LabelPairs = ()


def text_labels(shown: str, whole: str | None) -> LabelPairs:
    """The labels ``fingerprint`` and ``query``; HIDDEN if nothing may be shown.

    Args:
        shown: the text, cut to the length that is shown.
        whole: for the fingerprint; None if it is too long to parse.
    """
    if may_hold_secret(shown):
        return HIDDEN
    fingerprint = fingerprint_of(whole) if whole else ""
    if not fingerprint:
        return (("query", shown),)
    return ("fingerprint", fingerprint), ("query", shown)


def may_hold_secret(query: str) -> bool:
    """Whether *query* may contain a constant such as a new password."""
    return not _NORMALISED.match(query) and bool(_SECRET.search(query))


def fingerprint_of(query: str) -> str:
    """Fingerprint of the normalised statement; empty if it cannot be parsed."""
    # Imported only when texts are on: the parser takes 5 MB.
    from pglast.parser import ParseError, fingerprint

    try:
        return str(fingerprint(query))
    except ParseError:
        return ""
