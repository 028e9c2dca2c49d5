"""The jobs of the recording: what each calls, and what befalls it around the deploy.

| job | what befalls it |
|---|---|
| ``shop`` | an index is dropped at the deploy; its exporter shows plans |
| ``rows`` | one statement is asked for ten times as many rows from the deploy on |
| ``hosted`` | from before the deploy on, its host takes the processors away |
| ``quiet`` | nothing |
| ``gap`` | its exporter, a second one of the quiet server, is away twice |
| ``reset`` | ``pg_stat_statements_reset()`` |
| ``restart`` | PostgreSQL is restarted, which cuts its clients' connections |
| ``lookups`` | a customer is looked up for each of many rows, no longer for one |
| ``rewritten`` | a statement is replaced by another on the same table, much slower |
| ``moved`` | a statement returns more rows, and another is not called any more |
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from psycopg.types.numeric import Int4

from lab import shop
from lab.timelapse import STEP

JOBS = (
    *("shop", "rows", "hosted", "quiet", "gap", "reset", "restart"),
    *("lookups", "rewritten", "moved"),
)
# Those of whose statements none got slower.
UNHARMED = ("gap", "reset", "restart")


def rounds(minutes: float) -> int:
    """How many scrapes fit into so many minutes."""
    return round(minutes * 60 / STEP)


# The evaluator's default, minutes.
WINDOW = 30.0
# Scrapes before the deploy and after it: one more than there are steps in a window.
BEFORE, AFTER = rounds(WINDOW) + 1, rounds(WINDOW) + 1
# Three of these, one after the other, fit into the recording.
SHORT_WINDOW = WINDOW / 3
# When something befalls a job, minutes after the deploy.
BEFALLS = 8.0
# When an exporter is away: less than the default ``max_gap``, then more.
AWAY = ((8.0, 12.0), (16.0, 22.0))

# Statements that no fault of the measurement makes slower for long, as it would the
# much shorter one that loses its index.
FEW = shop.STATEMENTS[1:7]


@dataclass(frozen=True, slots=True)
class Listing(shop.Statement):
    """Returns as many rows as ``values`` says."""

    def parameters(self, call: int) -> dict[str, Int4]:  # noqa: ARG002
        return {"value": Int4(self.values)}


LISTING = Listing(
    "first orders",
    "SELECT id, total, pg_sleep(0.0005) FROM orders WHERE id <= %(value)s",
    4,
)
LONGER = replace(LISTING, values=10 * LISTING.values)


LOOKUP = shop.Statement(
    "customer of an order",
    "SELECT name, pg_sleep(0.004) FROM customers WHERE id = %(value)s + 1",
    shop.CUSTOMERS,
)
# How often it is called in place of once.
LOOKUPS = 12
REPLACED = shop.Statement(
    "order", "SELECT total, pg_sleep(0.01) FROM orders WHERE id = %(value)s + 1", 1000
)
REWRITTEN = shop.Statement(
    "order with its day",
    "SELECT total, placed, pg_sleep(0.06) FROM orders WHERE id = %(value)s + 1",
    1000,
)
DROPPED = shop.Statement(
    "orders so far",
    "SELECT max(total), pg_sleep(0.06) FROM orders WHERE id <= %(value)s + 1",
    1000,
)


@dataclass(frozen=True, slots=True)
class Load:
    """What a server is asked for.

    Args:
        calls: of each statement in a round. The evaluator wants 100 in a window.
        clients: connections that share them.
    """

    statements: tuple[shop.Statement, ...]
    calls: int
    clients: int


LOADS = {
    "shop": Load(shop.STATEMENTS, calls=1, clients=8),
    "rows": Load((LISTING, *FEW), calls=2, clients=7),
    "hosted": Load(FEW, calls=2, clients=6),
    "quiet": Load(FEW, calls=3, clients=6),
    "reset": Load(FEW, calls=2, clients=6),
    "restart": Load(FEW, calls=2, clients=6),
}
# Those whose statements are others after the deploy.
CHANGING = {
    "lookups": Load((LOOKUP, *FEW), calls=2, clients=7),
    "rewritten": Load((REPLACED, *FEW), calls=2, clients=7),
    "moved": Load((LISTING, DROPPED, *FEW), calls=2, clients=8),
}
AFTERWARDS = {
    "lookups": (*LOOKUPS * (LOOKUP,), *FEW),
    "rewritten": (REWRITTEN, *FEW),
    "moved": (LONGER, *FEW),
}
