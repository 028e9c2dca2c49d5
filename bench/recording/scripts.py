"""What the recorded server is asked for: pgbench's own statements, the shop's, others.

Each statement is a script of pgbench, and is drawn with a weight of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from lab import shop

# Rows of pgbench_accounts for each unit of scale.
SCALE, ACCOUNTS = 5, 100_000
_MEASURES = (
    "count(*)",
    "sum(abalance)",
    "avg(abalance)",
    "max(length(filler))",
    "count(DISTINCT bid)",
    "min(abalance), max(abalance)",
    "stddev_samp(abalance + aid)",
    "bool_or(abalance > 100)",
)
# Rows that a statement over the accounts reads.
_READ = (20, 300, 3_000)
_LOG = (
    "CREATE TABLE log (id bigserial PRIMARY KEY, about int, at timestamptz, text text)"
)
SCHEMA = f"{_LOG}; CREATE INDEX log_about ON log (about)"
_WRITES = {
    "log": "INSERT INTO log (about, at, text)"
    " VALUES (:value, now(), repeat('line ', 1 + :value % 20))",
    "read log": "SELECT id, text FROM log WHERE about = :value"
    " ORDER BY id DESC LIMIT 5",
    "clean log": "DELETE FROM log WHERE id IN"
    " (SELECT id FROM log WHERE about = :value ORDER BY id LIMIT 2)",
    "touch": "UPDATE pgbench_accounts SET abalance = abalance + 1"
    " WHERE aid = 1 + :value",
    "touch many": "UPDATE pgbench_accounts SET filler = 'x'"
    " WHERE aid BETWEEN 1 + :value AND 1 + :value + 30",
    "restock": "UPDATE products SET stock = stock + 1 WHERE id = 1 + :value",
    "complete": "UPDATE orders SET status = (status + 1) % 5 WHERE id = 1 + :value",
}


def statements() -> Iterator[tuple[str, int]]:
    """Each statement with ``:value``, and below which number that is drawn."""
    for each in shop.STATEMENTS:
        sql = each.sql.replace("%(value)s", ":value").replace("%%", "%")
        # There they wait so that a busy machine does not show; here it is to show.
        sql = sql.replace(f"pg_sleep({shop.WAIT})", "pg_sleep(0)")
        sql = sql.replace(f"pg_sleep({shop.SHORT_WAIT})", "pg_sleep(0)")
        yield sql, each.values
    for measure, rows in product(_MEASURES, _READ):
        # The constant is in the list of columns twice or thrice, so the ids differ.
        columns = ", ".join([measure] * (1 + _READ.index(rows)))
        yield (
            f"SELECT {columns} FROM pgbench_accounts"  # noqa: S608 - constants
            f" WHERE aid BETWEEN :value AND :value + {rows}",
            SCALE * ACCOUNTS - rows,
        )
    for sql in _WRITES.values():
        yield sql, 5_000


def write_scripts(folder: Path) -> list[str]:
    """Write the scripts; the arguments of pgbench that draw them.

    Weights are log-uniform: some statements are called thirty times as often as others.
    """
    rng = np.random.default_rng(1)
    arguments = ["--builtin=tpcb-like@40", "--builtin=select-only@60"]
    for number, (sql, values) in enumerate(statements()):
        path = folder / f"{number:02}.sql"
        path.write_text(f"\\set value random(0, {values - 1})\n{sql};\n", "utf-8")
        weight = round(float(np.exp(rng.uniform(np.log(10), np.log(100)))))
        arguments.append(f"--file={path}@{weight}")
    return arguments
