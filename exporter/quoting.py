"""Names of PostgreSQL as SQL spells them. Pure."""

from __future__ import annotations


def quoted(identifier: str) -> str:
    """Spell *identifier* so that SQL reads it as it is."""
    return '"' + identifier.replace('"', '""') + '"'
