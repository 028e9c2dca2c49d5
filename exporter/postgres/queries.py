"""The columns that pg_stat_statements has on this server → SQL. Pure.

One table says how a field can be read, and which columns that takes. The columns that
are there decide, never a version: after pg_upgrade a new server still has the old
extension, and forks have numbers of their own (``1.10-yb-2.0``).

Source: the extension's own scripts, pg_stat_statements--*.sql. Milliseconds are
converted to seconds here.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..values import problems
from ..values.problems import Problem
from ..values.quoting import quoted

# Without these a statement cannot be named or judged.
ESSENTIAL_FIELDS = ("calls", "seconds")
_KEY_COLUMNS = frozenset({"userid", "dbid", "queryid"})
_TOPLEVEL = "toplevel"


@dataclass(frozen=True, slots=True)
class Column:
    """How to read *field* where the function has the columns *needs*.

    Args:
        sql: an expression over the columns of pg_stat_statements.
        kind: the SQL type to ask for, ``int8`` or ``float8``.
        adds_up: whether a sum over several rows is meaningful.
    """

    field: str
    sql: str
    needs: tuple[str, ...]
    kind: str = "int8"
    adds_up: bool = True

    def offered(self, columns: Collection[str]) -> bool:
        """Whether a function with these *columns* has it."""
        return all(name in columns for name in self.needs)


def _count(field: str, column: str, kind: str = "int8") -> Column:
    return Column(field, column, (column,), kind)


def _milliseconds(field: str, column: str) -> Column:
    return Column(field, f"{column} / 1000", (column,), kind="float8")


def _squares(time: str) -> Column:
    """Σx² over the calls in s²: n·(σ² + µ²).

    pg_stat_statements.c computes σ as a population standard deviation.
    """
    mean, deviation = f"mean_{time}", f"stddev_{time}"
    sql = f"calls * ({deviation} ^ 2 + {mean} ^ 2) / 1e6"
    return Column("seconds_squared", sql, ("calls", mean, deviation), kind="float8")


# Where a field occurs twice, its column was renamed: the first that is there is read.
COLUMNS = (
    _count("calls", "calls"),
    _milliseconds("seconds", "total_exec_time"),
    _milliseconds("seconds", "total_time"),
    _count("rows", "rows"),
    _count("shared_blocks_hit", "shared_blks_hit"),
    _count("shared_blocks_read", "shared_blks_read"),
    _milliseconds("block_read_seconds", "shared_blk_read_time"),
    _milliseconds("block_read_seconds", "blk_read_time"),
    _milliseconds("block_write_seconds", "shared_blk_write_time"),
    _milliseconds("block_write_seconds", "blk_write_time"),
    _count("shared_blocks_dirtied", "shared_blks_dirtied"),
    _count("shared_blocks_written", "shared_blks_written"),
    _count("local_blocks_hit", "local_blks_hit"),
    _count("local_blocks_read", "local_blks_read"),
    _count("temp_blocks_read", "temp_blks_read"),
    _count("temp_blocks_written", "temp_blks_written"),
    _milliseconds("temp_block_read_seconds", "temp_blk_read_time"),
    _milliseconds("temp_block_write_seconds", "temp_blk_write_time"),
    _count("plans", "plans"),
    _milliseconds("plan_seconds", "total_plan_time"),
    _count("wal_records", "wal_records"),
    _count("wal_bytes", "wal_bytes", kind="float8"),
    _squares("exec_time"),
    _squares("time"),
    Column(
        "since",
        # The same float as extract(), which first makes a numeric of every row.
        "date_part('epoch', stats_since)",
        ("stats_since",),
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


def offered_columns(
    columns: Collection[str], wanted: Collection[str]
) -> dict[str, Column]:
    """How to read each of the *wanted* fields that is there, in the table's order."""
    offered: dict[str, Column] = {}
    for column in COLUMNS:
        # Before 1.9 a row may stand for two, see statements_query.
        adds_up = column.adds_up or _TOPLEVEL in columns
        if column.field in wanted and adds_up and column.offered(columns):
            offered.setdefault(column.field, column)
    return offered


def unreadable(columns: Collection[str], schema: str, version: str) -> Problem | None:
    """Why pg_stat_statements cannot be read, if so.

    Args:
        schema: of the extension; empty where it is missing.
        version: of the extension, for the message.
    """
    if not schema:
        return problems.EXTENSION_MISSING
    return problems.extension_too_old(version) if unknown_layout(columns) else None


def unknown_layout(columns: Collection[str]) -> bool:
    """Whether these *columns* lack what every statement needs."""
    essential = offered_columns(columns, ESSENTIAL_FIELDS)
    named = set(columns) >= _KEY_COLUMNS
    return not (named and len(essential) == len(ESSENTIAL_FIELDS))


def statements_query(
    columns: Collection[str], schema: str, wanted: Collection[str]
) -> Query:
    """Read the *wanted* fields that a function with these *columns* offers.

    Before 1.9 the extension does not show ``toplevel``, so a newer server may return
    two rows with the same key; only their sum is a counter.
    """
    offered = offered_columns(columns, wanted)
    source = _source(schema)
    if _TOPLEVEL in columns:
        values = [f"({c.sql})::{c.kind}" for c in offered.values()]
        select = ", ".join(["userid", "dbid", "queryid", _TOPLEVEL, *values])
        return Query(f"SELECT {select} {source}", tuple(offered))
    values = [f"sum({c.sql})::{c.kind}" for c in offered.values()]
    head = ["userid", "dbid", "queryid", "NULL::bool"]
    return Query(
        f"SELECT {', '.join([*head, *values, 'count(*)'])} {source} GROUP BY 1, 2, 3",
        tuple(offered),
        grouped=True,
    )


def field_probe(column: Column, schema: str) -> str:
    """SQL that fails where *column* cannot be read from every row."""
    return f"SELECT count(({column.sql})::{column.kind}) {_source(schema)}"


def texts_query(columns: Collection[str], schema: str) -> str:
    """Read the texts of the statements whose query ids are in the array *ids*.

    Rows: userid, dbid, queryid, toplevel, the encoding of its database, the text cut to
    *length* characters, and the whole text if it has at most *whole* bytes. Whichever
    texts are requested, the server reads its entire text file: about 3 ms per MB.
    """
    toplevel = _TOPLEVEL if _TOPLEVEL in columns else "NULL::bool"
    return (
        f"SELECT userid, dbid, queryid, {toplevel}, "  # noqa: S608
        "(SELECT pg_encoding_to_char(encoding)::text FROM pg_database "
        "WHERE oid = dbid), "
        "left(query, %(length)s), "
        "CASE WHEN octet_length(query) <= %(whole)s THEN query END "
        f"FROM {quoted(schema)}.pg_stat_statements(true) "
        "WHERE queryid = ANY(%(ids)s)"
    )


def _source(schema: str) -> str:
    return f"FROM {quoted(schema)}.pg_stat_statements(false)"
