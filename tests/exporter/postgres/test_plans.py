"""Plans as PostgreSQL writes them → outline and identity."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from exporter.postgres.plans import (
    LONGEST_OUTLINE,
    explain_sql,
    explainable,
    plan_of,
    skipped_for,
)
from exporter.values.plan import Plan, Skipped


def explained(root: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"Plan": root, "Query Identifier": 42}]


def scan(relation: str = "orders", **more: Any) -> dict[str, Any]:
    return {
        "Node Type": "Seq Scan",
        "Schema": "public",
        "Relation Name": relation,
        **more,
    }


def index_scan(index: str, relation: str = "orders") -> dict[str, Any]:
    return scan(relation) | {"Node Type": "Index Scan", "Index Name": index}


def over(name: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Node Type": name, "Plans": list(children), **more}


def join(name: str, kind: str, *children: dict[str, Any]) -> dict[str, Any]:
    return over(name, *children) | {"Join Type": kind}


def sort(key: str) -> dict[str, Any]:
    return over("Sort", scan(), **{"Sort Key": [key]})


@pytest.mark.parametrize(
    ("root", "outline"),
    [
        (over("Limit", over("Sort", scan())), "Limit > Sort > Seq Scan orders"),
        (index_scan("orders_pkey"), "Index Scan orders_pkey on orders"),
        (
            over(
                "Hash Join", scan("a"), over("Hash", scan("b")), **{"Join Type": "Left"}
            ),
            "Hash Left Join (Seq Scan a, Hash > Seq Scan b)",
        ),
        (
            join("Nested Loop", "Inner", scan("a"), scan("b")),
            "Nested Loop (Seq Scan a, Seq Scan b)",
        ),
        (
            over("Aggregate", scan(), Strategy="Hashed"),
            "HashAggregate > Seq Scan orders",
        ),
        (over("Aggregate", scan(), Strategy="Plain"), "Aggregate > Seq Scan orders"),
        (
            over(
                "ModifyTable", scan(), Operation="Update", **{"Relation Name": "orders"}
            ),
            "Update orders > Seq Scan orders",
        ),
        (
            {"Node Type": "Function Scan", "Function Name": "total"},
            "Function Scan total",
        ),
        ({"Node Type": "CTE Scan", "CTE Name": "recent"}, "CTE Scan recent"),
        ({"Node Type": "Result"}, "Result"),
    ],
)
def test_an_outline_is_readable(root: dict[str, Any], outline: str) -> None:
    assert plan_of(explained(root)).outline == outline


def test_a_plan_is_shown_by_its_identity_and_its_outline() -> None:
    plan = Plan("0123456789abcdef", "Seq Scan orders")

    assert plan.labels == (
        ("plan_id", "0123456789abcdef"),
        ("plan", "Seq Scan orders"),
    )


def test_a_long_outline_is_cut_and_its_identity_is_not() -> None:
    wide = [scan(f"part_{number}") for number in range(200)]

    first = plan_of(explained(over("Append", *wide)))
    second = plan_of(explained(over("Append", *wide[:-1], scan("other"))))

    assert len(first.outline) == LONGEST_OUTLINE
    assert first.outline == second.outline
    assert first.plan_id != second.plan_id


def identity(root: dict[str, Any]) -> str:
    return plan_of(explained(root)).plan_id


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (scan(), index_scan("orders_pkey")),
        (index_scan("orders_pkey"), index_scan("orders_at")),
        (scan("orders"), scan("items")),
        (scan(), scan(Schema="archive")),
        (sort("at"), sort("id")),
        (over("Append", scan("a"), scan("b")), over("Append", scan("b"), scan("a"))),
        (
            join("Hash Join", "Inner", scan("a"), scan("b")),
            join("Hash Join", "Left", scan("a"), scan("b")),
        ),
        (
            over("Append", over("Append", scan("a")), scan("b")),
            over("Append", over("Append", scan("a"), scan("b"))),
        ),
    ],
)
def test_another_plan_has_another_identity(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert identity(first) != identity(second)


@pytest.mark.parametrize(
    "more",
    [
        {"Total Cost": 12.5, "Plan Rows": 1000},
        {"Filter": "(orders.id = $1)"},
        {"Alias": "o"},
        {"Output": ["id", "at"]},
        {"Disabled": False},
    ],
    ids=lambda more: next(iter(more)),
)
def test_what_is_not_part_of_the_plan_does_not_change_the_identity(
    more: dict[str, Any],
) -> None:
    assert identity(scan(**more)) == identity(scan())


def test_a_temporary_table_is_the_same_in_every_session() -> None:
    assert identity(scan(Schema="pg_temp_3")) == identity(scan(Schema="pg_temp_7"))


@pytest.mark.parametrize("nonsense", [None, [], {}, [{}], [{"Plan": {}}], "text", [3]])
def test_an_answer_that_is_not_a_plan_is_rejected(nonsense: Any) -> None:
    with pytest.raises(ValueError, match="not a plan"):
        plan_of(nonsense)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM orders WHERE id = $1 LIMIT $2",
        "WITH x AS (SELECT $1) SELECT * FROM x",
        "INSERT INTO orders VALUES ($1)",
        "UPDATE orders SET id = $1",
        "DELETE FROM orders",
        "VALUES ($1, $2)",
        "MERGE INTO a USING b ON a.i = b.i WHEN MATCHED THEN DELETE",
    ],
)
def test_statements_with_a_plan_are_explained(query: str) -> None:
    assert explainable(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1; DROP TABLE orders",
        "SELECT 1; SELECT 2",
        "DROP TABLE orders",
        "EXPLAIN SELECT 1",
        "BEGIN",
        "VACUUM",
        "CALL p()",
        "CREATE TABLE t AS SELECT 1",
        "COPY orders TO PROGRAM 'rm -rf /'",
        "DO $$ BEGIN END $$",
        "",
        ";",
        "ANALYZE) SELECT 1",
        "this is not SQL",
    ],
)
def test_no_other_statement_is_explained(query: str) -> None:
    assert not explainable(query)


@pytest.mark.parametrize(
    ("first", "repeated", "most"),
    [("a", "::a", 33_000), ("a", "+a", 49_000), ("$1", "||$1", 24_000)],
)
def test_a_statement_too_deep_for_the_parser_does_not_crash_the_program(
    first: str, repeated: str, most: int
) -> None:
    program = (
        "import threading; from exporter.postgres.plans import explainable\n"
        f"query = 'SELECT ' + {first!r} + {repeated!r} * {most}\n"
        "thread = threading.Thread(target=explainable, args=(query,))\n"
        "thread.start(); thread.join()"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_explain_is_followed_by_the_statement_alone() -> None:
    assert explain_sql("SELECT $1") == (
        "EXPLAIN (GENERIC_PLAN, VERBOSE, COSTS OFF, FORMAT JSON) SELECT $1"
    )


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("42501", Skipped.NO_PRIVILEGE),
        ("42P01", Skipped.NOT_FOUND),
        ("57014", Skipped.TIMEOUT),
        ("42P18", Skipped.NO_GENERIC_PLAN),
        ("42601", Skipped.NO_GENERIC_PLAN),
        ("XX000", Skipped.FAILED),
    ],
)
def test_an_error_of_the_server_becomes_a_reason(state: str, reason: Skipped) -> None:
    assert skipped_for(state) is reason
