"""A small shop's database: tables, 24 statements of steady cost, one index to lose.

Every statement reads an equal share of rows at each call and then waits in pg_sleep,
as on a real server it would for the disk. Such a wait, unlike computing, is not
stretched when others want the processor too: what a busy test machine does to these
statements stays below what counts as a regression (measured with four busy loops
started on two cores: at most +5 %), while the lost index makes its statement take three
times as long.
"""

# ruff: noqa: S608 - the statements are put together from constants

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from psycopg.types.numeric import Int4

DATABASE = "shop"
USER = "shop"
PASSWORD = "shop"  # noqa: S105 - of throw-away servers on loopback
ORDERS, ITEMS, CUSTOMERS, PRODUCTS, REVIEWS = 240_000, 60_000, 8_000, 6_000, 12_000
STORES = 400
SHARE = 1_000  # rows that a statement reads
WAIT, SHORT_WAIT = 0.02, 0.004  # seconds that it waits, that the slowed one does

SCHEMA = f"""
CREATE TABLE customers AS
    SELECT id, 'customer ' || id AS name, id % 40 AS region,
           date '2020-01-01' + id % 1800 AS since
    FROM generate_series(1, {CUSTOMERS}) AS id;
CREATE TABLE products AS
    SELECT id, 'product ' || id AS name, id % 25 AS category,
           (id * 37 % 5000) / 100.0 AS price, id * 7 % 300 AS stock
    FROM generate_series(1, {PRODUCTS}) AS id;
CREATE TABLE orders AS
    SELECT id, id * 7 % {STORES} AS store, 1 + id * 13 % {CUSTOMERS} AS customer,
           timestamptz '2026-01-01' + id * interval '9 minutes' AS placed,
           id % 5 AS status, (id * 53 % 20000) / 100.0 AS total
    FROM generate_series(1, {ORDERS}) AS id;
CREATE TABLE items AS
    SELECT id, 1 + id % {ORDERS} AS "order", 1 + id * 11 % {PRODUCTS} AS product,
           1 + id % 4 AS quantity, (id * 29 % 5000) / 100.0 AS price
    FROM generate_series(1, {ITEMS}) AS id;
CREATE TABLE reviews AS
    SELECT id, 1 + id * 17 % {PRODUCTS} AS product, 1 + id % 5 AS stars,
           repeat('good value ', 1 + id % 7) AS body
    FROM generate_series(1, {REVIEWS}) AS id;
ALTER TABLE customers ADD PRIMARY KEY (id);
ALTER TABLE products ADD PRIMARY KEY (id);
ALTER TABLE orders ADD PRIMARY KEY (id);
ALTER TABLE items ADD PRIMARY KEY (id);
ALTER TABLE reviews ADD PRIMARY KEY (id);
CREATE INDEX orders_store ON orders (store);
CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}';
GRANT SELECT ON ALL TABLES IN SCHEMA public TO {USER};
"""
# On its own: not allowed inside a transaction. Without it the first autovacuum would
# change plans in the middle of a measurement.
SETTLE = "VACUUM (ANALYZE, FREEZE)"
DROP_INDEX = "DROP INDEX orders_store"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and how to draw its parameter.

    Args:
        name: unique, for a person.
        sql: with ``%(value)s`` for the parameter.
        values: the parameter is below this; every value costs the same.
    """

    name: str
    sql: str
    values: int

    def parameters(self, call: int) -> dict[str, Int4]:
        """For the n-th call. Of one type: pg_stat_statements keeps types apart."""
        return {"value": Int4(call * 997 % self.values)}


def _rows(table: str) -> str:
    return (
        f"{table}, pg_sleep({WAIT})"
        f" WHERE id BETWEEN %(value)s + 1 AND %(value)s + {SHARE}"
    )


def _statements(
    table: str, rows: int, statements: Mapping[str, str]
) -> Iterator[Statement]:
    for name, sql in statements.items():
        yield Statement(name, sql.replace("ROWS", _rows(table)), rows - SHARE)


SLOWED = Statement(
    "turnover of a store",
    f"SELECT count(*), sum(total) FROM orders, pg_sleep({SHORT_WAIT})"
    " WHERE store = %(value)s",
    STORES,
)
SLOWED_QUERYID = (
    "SELECT queryid::text FROM pg_stat_statements"
    " WHERE query LIKE 'SELECT count(*), sum(total) FROM orders,%'"
)
_ORDERS = {
    "orders by status": "SELECT status, count(*) FROM ROWS GROUP BY status",
    "orders by day": "SELECT date_trunc('day', placed) AS day, count(*), sum(total)"
    " FROM ROWS GROUP BY day ORDER BY day",
    "largest orders": "SELECT id, total FROM ROWS ORDER BY total DESC LIMIT 10",
    "average order": "SELECT avg(total), stddev_samp(total) FROM ROWS",
    "returning customers": "SELECT customer, count(*) FROM ROWS"
    " GROUP BY customer ORDER BY count(*) DESC LIMIT 5",
    "orders of the morning": "SELECT count(*) FROM ROWS"
    " AND extract(hour FROM placed) < 12",
    "running turnover": "SELECT max(running) FROM"
    " (SELECT sum(total) OVER (ORDER BY id) AS running FROM ROWS) AS o",
}
_ITEMS = {
    "items sold": "SELECT sum(quantity), sum(quantity * price) FROM ROWS",
    "best sellers": "SELECT product, sum(quantity) FROM ROWS"
    " GROUP BY product ORDER BY sum(quantity) DESC LIMIT 10",
    "basket sizes": "SELECT quantity, count(*) FROM ROWS GROUP BY quantity",
    "distinct products sold": "SELECT count(DISTINCT product) FROM ROWS",
    "dearest items": "SELECT id, price FROM ROWS ORDER BY price DESC LIMIT 3",
    "median price sold": "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price)"
    " FROM ROWS",
}
_CUSTOMERS = {
    "customers by region": "SELECT region, count(*) FROM ROWS GROUP BY region",
    "customers by name": "SELECT count(*) FROM ROWS AND name LIKE '%%7%%'",
    "customers by year": "SELECT extract(year FROM since) AS year, count(*)"
    " FROM ROWS GROUP BY year",
    "names in capitals": "SELECT max(upper(name)) FROM ROWS",
}
_PRODUCTS = {
    "stock by category": "SELECT category, sum(stock), avg(price) FROM ROWS"
    " GROUP BY category",
    "value in stock": "SELECT sum(stock * price) FROM ROWS",
    "products by name": "SELECT count(*) FROM ROWS AND name ~ '[13579]$'",
}
_REVIEWS = {
    "stars given": "SELECT stars, count(*) FROM ROWS GROUP BY stars",
    "longest reviews": "SELECT id, length(body) FROM ROWS"
    " ORDER BY length(body) DESC, id LIMIT 5",
    "reviews that praise": "SELECT count(*) FROM ROWS AND body LIKE '%%value good%%'",
}
STATEMENTS = (
    SLOWED,
    *_statements("orders", ORDERS, _ORDERS),
    *_statements("items", ITEMS, _ITEMS),
    *_statements("customers", CUSTOMERS, _CUSTOMERS),
    *_statements("products", PRODUCTS, _PRODUCTS),
    *_statements("reviews", REVIEWS, _REVIEWS),
)
