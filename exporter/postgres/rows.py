"""Rows of pg_stat_statements → Statements. Pure.

A row that cannot be named is left out and counted, never given an invented label. Its
role may be hidden from the exporter; or its role or database was dropped, and then its
counters can no longer change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..values.snapshot import Names, Statements
from .queries import Query

Row = Sequence[Any]

NO_PRIVILEGE = "no_privilege"
ROLE_DROPPED = "role_dropped"
DATABASE_DROPPED = "database_dropped"
SAME_NAME = "same_name"
SKIP_REASONS = (NO_PRIVILEGE, ROLE_DROPPED, DATABASE_DROPPED, SAME_NAME)

_KEY_WIDTH = 4


def statements(rows: Sequence[Row], query: Query, names: Names) -> Statements:
    """Sort *rows* of *query* into columns."""
    unique = Names(_unambiguous(names.roles), _unambiguous(names.databases))
    skipped = dict.fromkeys(SKIP_REASONS, 0)
    columns = _columns(rows, query)
    if not _all_named(columns, unique):
        kept = []
        for row in rows:
            reason = _why_unnamed(row, names, unique)
            if reason is None:
                kept.append(row)
            else:
                skipped[reason] += row[-1] if query.grouped else 1
        columns = _columns(kept, query)
    values = columns[_KEY_WIDTH : _KEY_WIDTH + len(query.fields)]
    return Statements(
        keys=list(zip(*columns[:_KEY_WIDTH], strict=True)),
        columns=dict(zip(query.fields, values, strict=True)),
        names=unique,
        skipped=skipped,
    )


def entries(rows: Sequence[Row], query: Query) -> int:
    """How many rows of pg_stat_statements *rows* stand for."""
    return sum(row[-1] for row in rows) if query.grouped else len(rows)


def _columns(rows: Sequence[Row], query: Query) -> list[tuple[Any, ...]]:
    width = _KEY_WIDTH + len(query.fields) + query.grouped
    return list(zip(*rows, strict=True)) or [()] * width


def _all_named(columns: Sequence[tuple[Any, ...]], names: Names) -> bool:
    """Whether no row must be skipped: nearly always true, and quick to check."""
    users, databases, queryids = columns[:3]
    return (
        None not in queryids
        and names.roles.keys() >= set(users)
        and names.databases.keys() >= set(databases)
    )


def _why_unnamed(row: Row, names: Names, unique: Names) -> str | None:
    userid, dbid, queryid = row[:3]
    if queryid is None:
        return NO_PRIVILEGE
    if userid not in names.roles:
        return ROLE_DROPPED
    if dbid not in names.databases:
        return DATABASE_DROPPED
    if userid not in unique.roles or dbid not in unique.databases:
        return SAME_NAME
    return None


def _unambiguous(by_oid: Mapping[int, str]) -> dict[int, str]:
    """Leave out names that two oids share: escaped invalid UTF-8 may look the same."""
    count = Counter(by_oid.values())
    return {oid: name for oid, name in by_oid.items() if count[name] == 1}
