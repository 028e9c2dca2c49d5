"""The columns that each version of pg_stat_statements offers → SQL. Pure.

One table says from which to which extension version a field can be read, and how. The
version of the extension decides, never that of the server: after pg_upgrade a new
server still has the old extension.

Source: the extension's own scripts, pg_stat_statements--*.sql. Milliseconds are
converted to seconds here.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..values.quoting import quoted

Version = tuple[int, ...]

OLDEST: Version = (1, 4)
HAS_TOPLEVEL: Version = (1, 9)
HAS_INFO: Version = (1, 9)


@dataclass(frozen=True, slots=True)
class Column:
    """How to read *field* from extension version *since* on, and before *until*.

    Args:
        sql: an expression over the columns of pg_stat_statements.
        kind: the SQL type to ask for, ``int8`` or ``float8``.
        adds_up: whether a sum over several rows is meaningful.
    """

    field: str
    sql: str
    since: Version = OLDEST
    until: Version | None = None
    kind: str = "int8"
    adds_up: bool = True

    def offered(self, version: Version) -> bool:
        """Whether this version of the extension has it."""
        return self.since <= version and (self.until is None or version < self.until)


def _milliseconds(
    field: str, column: str, since: Version = OLDEST, until: Version | None = None
) -> Column:
    return Column(field, f"{column} / 1000", since, until, kind="float8")


# Σx² over the calls in s²: n·(σ² + µ²); pg_stat_statements.c computes σ as a population
# standard deviation.
_SQUARES = "{calls} * (stddev_{time} ^ 2 + mean_{time} ^ 2) / 1e6"

COLUMNS = (
    Column("calls", "calls"),
    _milliseconds("seconds", "total_time", until=(1, 8)),
    _milliseconds("seconds", "total_exec_time", since=(1, 8)),
    Column("rows", "rows"),
    Column("shared_blocks_hit", "shared_blks_hit"),
    Column("shared_blocks_read", "shared_blks_read"),
    _milliseconds("block_read_seconds", "blk_read_time", until=(1, 11)),
    _milliseconds("block_read_seconds", "shared_blk_read_time", since=(1, 11)),
    _milliseconds("block_write_seconds", "blk_write_time", until=(1, 11)),
    _milliseconds("block_write_seconds", "shared_blk_write_time", since=(1, 11)),
    Column("shared_blocks_dirtied", "shared_blks_dirtied"),
    Column("shared_blocks_written", "shared_blks_written"),
    Column("local_blocks_hit", "local_blks_hit"),
    Column("local_blocks_read", "local_blks_read"),
    Column("temp_blocks_read", "temp_blks_read"),
    Column("temp_blocks_written", "temp_blks_written"),
    _milliseconds("temp_block_read_seconds", "temp_blk_read_time", since=(1, 10)),
    _milliseconds("temp_block_write_seconds", "temp_blk_write_time", since=(1, 10)),
    Column("plans", "plans", since=(1, 8)),
    _milliseconds("plan_seconds", "total_plan_time", since=(1, 8)),
    Column("wal_records", "wal_records", since=(1, 8)),
    Column("wal_bytes", "wal_bytes", since=(1, 8), kind="float8"),
    Column(
        "seconds_squared",
        _SQUARES.format(calls="calls", time="time"),
        until=(1, 8),
        kind="float8",
    ),
    Column(
        "seconds_squared",
        _SQUARES.format(calls="calls", time="exec_time"),
        since=(1, 8),
        kind="float8",
    ),
    Column(
        "since",
        # The same float as extract(), which first makes a numeric of every row.
        "date_part('epoch', stats_since)",
        since=(1, 11),
        kind="float8",
        adds_up=False,
    ),
)


@dataclass(frozen=True, slots=True)
class Query:
    """SQL whose rows are userid, dbid, queryid, toplevel, then *fields*.

    Args:
        grouped: whether a row may stand for several rows of pg_stat_statements; their
            number is then its last value.
    """

    sql: str
    fields: tuple[str, ...]
    grouped: bool = False


def version_of(text: str) -> Version:
    """``"1.10"`` → (1, 10); a part with letters ends it.

    >>> version_of("1.10") > version_of("1.9")
    True
    """
    parts = []
    for part in text.split("."):
        if not part.isdecimal():
            break
        parts.append(int(part))
    return tuple(parts)


def statements_query(version: Version, schema: str, wanted: Collection[str]) -> Query:
    """Read the *wanted* fields that *version* offers, in the table's order.

    Before 1.9 the extension does not show ``toplevel``, so a newer server may return
    two rows with the same key; only their sum is a counter.
    """
    columns = [c for c in COLUMNS if c.field in wanted and c.offered(version)]
    source = f"FROM {quoted(schema)}.pg_stat_statements(false)"
    if version >= HAS_TOPLEVEL:
        values = [f"({c.sql})::{c.kind}" for c in columns]
        select = ", ".join(["userid", "dbid", "queryid", "toplevel", *values])
        return Query(f"SELECT {select} {source}", tuple(c.field for c in columns))
    columns = [c for c in columns if c.adds_up]
    values = [f"sum({c.sql})::{c.kind}" for c in columns]
    head = ["userid", "dbid", "queryid", "NULL::bool"]
    return Query(
        f"SELECT {', '.join([*head, *values, 'count(*)'])} {source} GROUP BY 1, 2, 3",
        tuple(c.field for c in columns),
        grouped=True,
    )


def texts_query(version: Version, schema: str) -> str:
    """Read the texts of the statements whose query ids are in the array *ids*.

    Rows: userid, dbid, queryid, toplevel, the text cut to *length* characters, and the
    whole text if it has at most *whole* bytes. Whichever texts are requested, the
    server reads its entire text file: about 3 ms per MB.
    """
    toplevel = "toplevel" if version >= HAS_TOPLEVEL else "NULL::bool"
    return (
        f"SELECT userid, dbid, queryid, {toplevel}, left(query, %(length)s), "  # noqa: S608
        "CASE WHEN octet_length(query) <= %(whole)s THEN query END "
        f"FROM {quoted(schema)}.pg_stat_statements(true) "
        "WHERE queryid = ANY(%(ids)s)"
    )


def evictions_query(version: Version, schema: str) -> str | None:
    """Read dealloc and stats_reset; None if the extension has no such view."""
    if version < HAS_INFO:
        return None
    select = "SELECT dealloc, date_part('epoch', stats_reset)"
    return f"{select} FROM {quoted(schema)}.pg_stat_statements_info"
