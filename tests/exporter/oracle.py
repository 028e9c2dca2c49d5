"""The server's own values, read as superuser with different SQL: the truth."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime
from typing import Any

from lab.postgres import Postgres

from .builders import Series, series

# Series → the column it must equal, under any of the names that it has had.
COUNTS = {
    "calls": ("calls",),
    "rows": ("rows",),
    "shared_blocks_hit": ("shared_blks_hit",),
    "shared_blocks_read": ("shared_blks_read",),
    "shared_blocks_dirtied": ("shared_blks_dirtied",),
    "shared_blocks_written": ("shared_blks_written",),
    "local_blocks_hit": ("local_blks_hit",),
    "local_blocks_read": ("local_blks_read",),
    "temp_blocks_read": ("temp_blks_read",),
    "temp_blocks_written": ("temp_blks_written",),
    "plans": ("plans",),
    "wal_records": ("wal_records",),
    "wal_bytes": ("wal_bytes",),
}
MILLISECONDS = {
    "seconds": ("total_exec_time", "total_time"),
    "block_read_seconds": ("shared_blk_read_time", "blk_read_time"),
    "block_write_seconds": ("shared_blk_write_time", "blk_write_time"),
    "temp_block_read_seconds": ("temp_blk_read_time",),
    "temp_block_write_seconds": ("temp_blk_write_time",),
    "plan_seconds": ("total_plan_time",),
}
FIELDS = (*COUNTS, *MILLISECONDS)


def truth(server: Postgres, schema: str = "public") -> dict[Series, float]:
    """Every series of single statements that the server's rows must give.

    Rows with the same key, which differ only in a hidden toplevel, are added up.
    """
    rows = server.execute(
        "SELECT to_jsonb(s)::text, r.rolname::text, d.datname::text, s.queryid::text "  # noqa: S608
        f'FROM "{schema}".pg_stat_statements AS s '
        "JOIN pg_roles r ON r.oid = s.userid JOIN pg_database d ON d.oid = s.dbid"
    )
    values: dict[Series, float] = defaultdict(float)
    for text, user, database, queryid in rows:
        row = json.loads(text)
        labels = {"user": user, "datname": database, "queryid": queryid}
        if "toplevel" in row:
            labels["toplevel"] = str(row["toplevel"]).lower()
        for name, value in _values(row).items():
            values[series(name, **labels)] += value
    return dict(values)


def _values(row: dict[str, Any]) -> dict[str, float]:
    values = {}
    for fields, unit in ((COUNTS, 1), (MILLISECONDS, 1000)):
        for field, columns in fields.items():
            for column in row.keys() & columns:
                values[f"pg_stat_statements_{field}_total"] = row[column] / unit
    if "stats_since" in row:
        since = datetime.fromisoformat(row["stats_since"]).timestamp()
        values["pg_stat_statements_stats_since_seconds"] = since
    return values
