"""The table of columns; test_versions.py has real servers of every version."""

from __future__ import annotations

import pytest

from exporter.metrics.counters import COUNTER_FIELDS
from exporter.postgres.queries import (
    COLUMNS,
    evictions_query,
    statements_query,
    texts_query,
    version_of,
)

VERSIONS = [(1, minor) for minor in range(4, 13)]


@pytest.mark.parametrize("version", VERSIONS)
def test_no_field_is_offered_twice(version: tuple[int, int]) -> None:
    offered = [column.field for column in COLUMNS if column.offered(version)]

    assert len(offered) == len(set(offered))


def test_every_counter_has_a_column() -> None:
    assert set(COUNTER_FIELDS) <= {column.field for column in COLUMNS}


def test_renamed_columns_are_read_under_each_name() -> None:
    sql = {
        v: statements_query(v, "public", ["block_read_seconds"]).sql for v in VERSIONS
    }

    assert "sum(blk_read_time / 1000)" in sql[1, 8]
    assert "(blk_read_time / 1000)" in sql[1, 10]
    assert "(shared_blk_read_time / 1000)" in sql[1, 11]


def test_what_a_version_does_not_have_is_left_out() -> None:
    query = statements_query((1, 7), "public", ["calls", "plans", "since"])

    assert query.fields == ("calls",)


def test_hidden_toplevel_rows_are_summed() -> None:
    query = statements_query((1, 8), "public", ["calls"])

    assert query.sql == (
        "SELECT userid, dbid, queryid, NULL::bool, sum(calls)::int8, count(*) "
        'FROM "public".pg_stat_statements(false) GROUP BY 1, 2, 3'
    )


def test_texts_are_never_read_with_the_counters() -> None:
    for version in VERSIONS:
        query = statements_query(version, "public", [c.field for c in COLUMNS])

        assert "pg_stat_statements(false)" in query.sql
        assert "query," not in query.sql.replace("queryid,", "")


def test_a_schema_is_quoted() -> None:
    for sql in (
        statements_query((1, 12), 'my "own"', ["calls"]).sql,
        texts_query((1, 12), 'my "own"'),
        evictions_query((1, 12), 'my "own"'),
    ):
        assert sql is not None
        assert '"my ""own""".pg_stat_statements' in sql


def test_the_info_view_depends_on_the_extension_not_the_server() -> None:
    assert evictions_query((1, 8), "public") is None
    assert evictions_query((1, 9), "public") is not None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.4", (1, 4)),
        ("1.10", (1, 10)),
        ("1.12", (1, 12)),
        ("1.13beta", (1,)),
        ("", ()),
    ],
)
def test_versions_are_numbers(text: str, version: tuple[int, ...]) -> None:
    assert version_of(text) == version
