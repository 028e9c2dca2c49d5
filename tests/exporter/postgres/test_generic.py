"""Shapes that have no generic plan as pg_stat_statements shows them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from exporter.postgres.generic import for_generic_plan
from exporter.postgres.plans import explain_sql, explainable
from lab.postgres import Postgres


@pytest.mark.parametrize(
    ("normalised", "spelled"),
    [
        ("a = ANY (ARRAY[$1, $2])", "a IN ($1, $2)"),
        ("a=any(array[$1,$2])", "a IN ($1,$2)"),
        ("a = SOME (ARRAY[$1, $2])", "a IN ($1, $2)"),
        ("a <> ALL (ARRAY[$1, $2])", "a NOT IN ($1, $2)"),
        ("a != all (ARRAY[$1, $2])", "a NOT IN ($1, $2)"),
        ("a = ANY (ARRAY[$1])", "a IN ($1, $1)"),
        ("a = ANY (ARRAY[$1 /*, ... */])", "a IN ($1 /*, ... */, $1 /*, ... */)"),
        ("at > now() - interval $1", "at > now() - CAST($1 AS interval)"),
        (
            "at < timestamp with time zone $7",
            "at < CAST($7 AS timestamp with time zone)",
        ),
        ("extract($1 FROM at) = $2", "extract(epoch FROM at) = $2"),
    ],
)
def test_a_shape_is_spelled_in_another_way(normalised: str, spelled: str) -> None:
    assert for_generic_plan(normalised) == spelled


@pytest.mark.parametrize(
    "query",
    [
        "a = ANY ($1)",
        "a >= ANY (ARRAY[$1, $2])",
        "a = ANY (ARRAY[$1::int, $2])",
        "a <> ANY (ARRAY[$1, $2])",
        "a = ALL (ARRAY[$1, $2])",
        "at AT TIME ZONE $1",
        "update $1",
        'SELECT "date" $1',
        "a.date $1",
        "candidate $1",
    ],
)
def test_everything_else_stays_as_it_is(query: str) -> None:
    assert for_generic_plan(query) == query


@pytest.fixture(scope="module", params=["16", "18"])
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    with Postgres(request.param) as running:
        running.execute(
            "CREATE TABLE t (id int, big bigint, name text, at timestamptz, day date, "
            "u uuid, n numeric, j jsonb, flag bool, span tstzrange)"
        )
        yield running


CONDITIONS = (
    "id = ANY (ARRAY[1])",
    "id = ANY (ARRAY[1, 2, 3])",
    "id = ANY ('{1,2}')",
    "id <> ALL (ARRAY[1, 2])",
    "big = ANY (ARRAY[1, 2]) AND id = ANY (ARRAY[7])",
    "name = ANY (ARRAY['a', 'b'])",
    "u = ANY (ARRAY['00000000-0000-0000-0000-000000000000'::uuid])",
    "at = ANY (ARRAY[timestamptz '2026-01-01', now()])",
    "id IN (1)",
    "id IN (1, 2, 3)",
    "id NOT IN (1, 2)",
    "(id, big) IN ((1, 2), (3, 4))",
    "at > now() - interval '1 day'",
    "at > timestamp with time zone '2026-01-01' - interval '1 hour'",
    "day = date '2026-01-01'",
    "at < timestamptz '2026-01-01' AT TIME ZONE 'UTC'",
    "extract(epoch FROM at) > 5 AND extract(dow FROM day) = 1",
    "date_trunc('day', at) = day",
    "j @> jsonb '{}' AND j ->> 'a' = 'b'",
    "span @> now() AND span && tstzrange '[2026-01-01,2026-01-02)'",
    "name LIKE 'a%' ESCAPE '!' AND substring(name FROM 1 FOR 2) = 'ab'",
    "n BETWEEN 1 AND 2.5 AND position('x' IN name) > 0",
    "CASE WHEN flag THEN id ELSE 0 END = 1 AND coalesce(name, '') <> ''",
    "EXISTS (SELECT 1 FROM t o WHERE o.id = t.id AND o.id = ANY (ARRAY[1, 2]))",
)


@pytest.mark.servers
@pytest.mark.parametrize("condition", CONDITIONS)
def test_real_statements_have_a_generic_plan(server: Postgres, condition: str) -> None:
    server.execute("SELECT pg_stat_statements_reset()")
    server.execute(f"SELECT id FROM t WHERE {condition} LIMIT 10")  # noqa: S608
    ((normalised,),) = server.execute(
        "SELECT query FROM pg_stat_statements WHERE query LIKE 'SELECT id FROM t%'"
    )

    query = for_generic_plan(normalised)

    assert explainable(query)
    with psycopg.connect(server.dsn) as connection:
        answer = connection.execute(explain_sql(query).encode()).fetchone()
    assert answer is not None
    assert "Plan" in answer[0][0]
