"""The shop's statements are distinct, counted exactly, and one of them has an index."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab import shop
from lab.postgres import Postgres
from lab.process import wait_until
from lab.workload import SETTINGS, Workload, create_shop

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres(settings=SETTINGS) as server:
        create_shop(server)
        yield server


def test_each_statement_has_one_queryid_and_as_many_calls_as_were_made(
    server: Postgres,
) -> None:
    dsn = server.dsn_for(shop.USER, shop.PASSWORD, shop.DATABASE)
    with Workload(dsn, rate=10) as load:
        wait_until(
            lambda: (
                len(load.calls) == len(shop.STATEMENTS) and min(load.calls.values()) > 4
            ),
            what="five rounds",
        )
        load.stop()

        counted = server.execute(
            "SELECT calls FROM pg_stat_statements"
            " JOIN pg_roles ON pg_roles.oid = userid"
            " WHERE rolname = 'shop' AND query LIKE 'SELECT%'"
        )
    assert not load.problems
    assert sorted(calls for (calls,) in counted) == sorted(load.calls.values())
    assert len(shop.STATEMENTS) == len({each.name for each in shop.STATEMENTS}) == 24


def test_only_the_slowed_statement_changes_its_plan_without_the_index(
    server: Postgres,
) -> None:
    before = {each.name: _plan(server, each) for each in shop.STATEMENTS}
    server.execute(shop.DROP_INDEX, database=shop.DATABASE)
    after = {each.name: _plan(server, each) for each in shop.STATEMENTS}

    changed = [name for name in before if before[name] != after[name]]
    assert changed == [shop.SLOWED.name]
    assert "orders_store" in before[shop.SLOWED.name]


def _plan(server: Postgres, statement: shop.Statement) -> str:
    sql = statement.sql.replace("%(value)s", "7").replace("%%", "%")
    rows = server.execute(f"EXPLAIN (COSTS OFF) {sql}", database=shop.DATABASE)
    return "\n".join(line for (line,) in rows)
