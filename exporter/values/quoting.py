"""Names in PostgreSQL → quoted SQL identifiers. Pure."""

from __future__ import annotations


def quoted(identifier: str) -> str:
    """Quote *identifier* so that SQL takes it literally."""
    return '"' + identifier.replace('"', '""') + '"'
