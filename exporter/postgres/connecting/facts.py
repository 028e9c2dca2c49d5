"""What each transaction reads first: which server this is, and what it offers."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from .session import Session

_FACTS = """
SELECT current_setting('server_version'),
       current_setting('server_version_num', true),
       current_user::name,
       current_database()::name,
       coalesce(e.extversion, ''),
       convert_to(coalesce(n.nspname::text, ''), current_setting('server_encoding')),
       coalesce((SELECT p.proargnames FROM pg_catalog.pg_proc p
                  WHERE p.pronamespace = e.extnamespace AND p.pronargs = 1
                    AND p.proname = 'pg_stat_statements'), '{}'),
       ARRAY(SELECT c.relname || '.' || a.attname
               FROM pg_catalog.pg_class c
               JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
              WHERE c.relnamespace IN ('pg_catalog'::regnamespace, e.extnamespace)
                AND c.relname = ANY(%(views)s)
                AND a.attnum > 0 AND NOT a.attisdropped)
  FROM (SELECT) AS one_row
  LEFT JOIN pg_catalog.pg_extension e ON e.extname = 'pg_stat_statements'
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the queries of this transaction depend on.

    Args:
        version: as the server spells it.
        major: major version; 0 if unknown.
        extension, schema: of pg_stat_statements; empty where it is missing.
        statement_columns: of the function pg_stat_statements.
        view_columns: of the views that were asked for, as ``view.column``.
    """

    version: str
    major: int
    role: str
    database: str
    extension: str
    schema: str
    statement_columns: frozenset[str]
    view_columns: frozenset[str] = frozenset()


def read_facts(session: Session, views: Collection[str] = ()) -> Facts:
    """Read them; *views* of pg_catalog or of the extension whose columns matter."""
    (row,) = session.rows(_FACTS, {"views": list(views)})
    version, number, role, database, extension, schema, columns, of_views = row
    return Facts(
        version=version,
        major=major_version(number, version),
        role=role,
        database=database,
        extension=extension,
        schema=session.encoding.exactly(schema),
        statement_columns=frozenset(columns),
        view_columns=frozenset(of_views),
    )


def major_version(number: Any, version: str) -> int:
    """Major version of PostgreSQL; 0 if unknown.

    Args:
        number: ``server_version_num``; forks may lack it.
        version: ``server_version``, to which forks add text.

    >>> major_version("170011", "17.11 (Debian 17.11-1)"), major_version(None, "EDB 16")
    (17, 16)
    """
    if isinstance(number, str) and number.isdecimal():
        return int(number) // 10000
    first = re.search(r"\d+", version)
    return int(first[0]) if first else 0
