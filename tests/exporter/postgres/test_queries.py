"""The table of columns; test_versions.py has real servers of every version."""

from __future__ import annotations

import pytest

from exporter.metrics.counters import COUNTER_FIELDS
from exporter.postgres.queries import (
    COLUMNS,
    field_probe,
    offered_columns,
    statements_query,
    texts_query,
    unknown_layout,
)

KEY = {"userid", "dbid", "queryid"}
EVERY = KEY | {name for column in COLUMNS for name in column.needs}
NEWEST = EVERY | {"toplevel"}
# What each of these versions lacks, or still has.
OLD_TIMES = {"total_exec_time", "mean_exec_time", "stddev_exec_time", "plans"}
BEFORE_1_8 = EVERY - OLD_TIMES


def test_every_counter_has_a_column() -> None:
    assert set(COUNTER_FIELDS) <= {column.field for column in COLUMNS}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("blk_read_time", "shared_blk_read_time"),
        ("blk_write_time", "shared_blk_write_time"),
        ("total_time", "total_exec_time"),
    ],
)
def test_renamed_columns_are_read_under_each_name(old: str, new: str) -> None:
    fields = [column.field for column in COLUMNS]

    by_old = statements_query(NEWEST - {new}, "public", fields).sql
    by_new = statements_query(NEWEST - {old}, "public", fields).sql
    by_either = statements_query(NEWEST, "public", fields).sql

    assert f"({old} / 1000)" in by_old
    assert f"({new} / 1000)" in by_new
    assert f"({new} / 1000)" in by_either
    assert f"({old} / 1000)" not in by_either


@pytest.mark.parametrize("lacking", sorted(EVERY - KEY))
def test_a_column_that_is_not_there_is_not_asked_for(lacking: str) -> None:
    fields = [column.field for column in COLUMNS]

    sql = statements_query(NEWEST - {lacking}, "public", fields).sql

    words = sql.replace("(", " ").replace(")", " ").replace(",", " ").split()
    assert lacking not in words


def test_what_a_version_does_not_have_is_left_out() -> None:
    query = statements_query(BEFORE_1_8, "public", ["calls", "plans", "since"])

    assert query.fields == ("calls",)


def test_a_column_that_only_a_fork_has_changes_nothing() -> None:
    fork = statements_query(NEWEST | {"yb_latency_histogram"}, "public", ["calls"])

    assert fork == statements_query(NEWEST, "public", ["calls"])


def test_hidden_toplevel_rows_are_summed() -> None:
    query = statements_query(BEFORE_1_8, "public", ["calls"])

    assert query.sql == (
        "SELECT userid, dbid, queryid, NULL::bool, sum(calls)::int8, count(*) "
        'FROM "public".pg_stat_statements(false) GROUP BY 1, 2, 3'
    )


@pytest.mark.parametrize("columns", [NEWEST, BEFORE_1_8])
def test_texts_are_never_read_with_the_counters(columns: set[str]) -> None:
    query = statements_query(columns, "public", [c.field for c in COLUMNS])

    assert "pg_stat_statements(false)" in query.sql
    assert "query," not in query.sql.replace("queryid,", "")


def test_a_schema_is_quoted() -> None:
    (calls,) = offered_columns(NEWEST, ["calls"]).values()
    for sql in (
        statements_query(NEWEST, 'my "own"', ["calls"]).sql,
        texts_query(NEWEST, 'my "own"'),
        field_probe(calls, 'my "own"'),
    ):
        assert '"my ""own""".pg_stat_statements' in sql


@pytest.mark.parametrize(
    "lacking", [{"queryid"}, {"userid"}, {"calls"}, {"total_time", "total_exec_time"}]
)
def test_a_layout_without_what_is_essential_is_unknown(lacking: set[str]) -> None:
    assert not unknown_layout(NEWEST)
    assert unknown_layout(NEWEST - lacking)
