"""Which tables a text names."""

from __future__ import annotations

import pytest

from evaluator.engine.effects.tables import tables_of


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("SELECT * FROM orders WHERE id = $1", {"orders"}),
        (
            "select o.id from Orders o join shop.items as i on i.o = o.id",
            {"orders", "items"},
        ),
        ("SELECT count(*) FROM orders, pg_sleep($1) WHERE id = $2", {"orders"}),
        ("SELECT 1 FROM orders AS o, items i, reviews", {"orders", "items", "reviews"}),
        ("INSERT INTO audit (a) VALUES ($1)", {"audit"}),
        ("UPDATE ONLY stock SET n = $1", {"stock"}),
        ("DELETE FROM stock USING items WHERE $1", {"stock", "items"}),
        ('SELECT * FROM "Odd ""name""", x', {'Odd "name"', "x"}),
        ("WITH recent AS (SELECT * FROM orders) SELECT * FROM recent", {"orders"}),
        ("SELECT 'from nowhere' FROM orders -- from here\n", {"orders"}),
        ("SELECT extract(year FROM placed) FROM orders", {"placed", "orders"}),
        ("SELECT * FROM generate_series($1, $2)", set()),
        ("SELECT * FROM (SELECT * FROM orders) AS o", {"orders"}),
        ("SELECT $1", set()),
        ("", set()),
    ],
)
def test_the_tables_of_a_text(text, tables):
    assert tables_of(text) == tables
