"""Rows as the database gives them → Statements. Pure.

A row that cannot be named is left out and counted, never given an invented label: its
role may be hidden from us, or its role or database may be gone, and then the entry can
no longer change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .snapshot import Names, StatementKey, Statements

Row = Sequence[Any]

NO_PRIVILEGE = "no_privilege"
ROLE_DROPPED = "role_dropped"
DATABASE_DROPPED = "database_dropped"
SAME_NAME = "same_name"
SKIP_REASONS = (NO_PRIVILEGE, ROLE_DROPPED, DATABASE_DROPPED, SAME_NAME)

_KEY_WIDTH = 5


def statements(rows: Sequence[Row], fields: Sequence[str], names: Names) -> Statements:
    """Sort *rows* of a :class:`columns.Query` into columns.

    Args:
        rows: userid, dbid, queryid, toplevel, entries, then one value per field.
    """
    unique = _unambiguous(names)
    skipped: Counter[str] = Counter(dict.fromkeys(SKIP_REASONS, 0))
    kept = []
    for row in rows:
        if row[2] is None:
            skipped[NO_PRIVILEGE] += row[4]
        elif row[0] in unique.roles and row[1] in unique.databases:
            kept.append(row)
        else:
            skipped[_why_unnamed(row, names)] += row[4]
    columns = list(zip(*kept, strict=True)) or [()] * (_KEY_WIDTH + len(fields))
    return Statements(
        keys=list(map(StatementKey, *columns[:4])),
        columns=dict(zip(fields, columns[_KEY_WIDTH:], strict=True)),
        names=unique,
        skipped=skipped,
    )


def entries(rows: Sequence[Row]) -> int:
    """How many rows of pg_stat_statements *rows* stand for."""
    return sum(row[4] for row in rows)


def _why_unnamed(row: Row, names: Names) -> str:
    if row[0] not in names.roles:
        return ROLE_DROPPED
    if row[1] not in names.databases:
        return DATABASE_DROPPED
    return SAME_NAME


def _unambiguous(names: Names) -> Names:
    """Leave out names that two oids share: bytes that are no UTF-8 can be read so."""
    return Names(_unique(names.roles), _unique(names.databases))


def _unique(by_oid: Any) -> dict[int, str]:
    count = Counter(by_oid.values())
    return {oid: name for oid, name in by_oid.items() if count[name] == 1}
