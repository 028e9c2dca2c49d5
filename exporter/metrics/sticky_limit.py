"""A sticky top-N: the costliest statements, without series that come and go. Pure.

A plain top-N changes at every scrape: ranks fluctuate, and a counter that is absent for
one scrape loses its increments. Here a statement that was admitted stays as long as the
server keeps its entry. Only a statement that has cost more than twice as much replaces
the cheapest one, so a place changes hands only as often as its cost doubles, and the
statement that was replaced cannot come back at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress

from ..values.snapshot import LeftOut, StatementKey, Statements

COST = "seconds"
# How much more a newcomer must have cost. Above 1, so that two statements cannot
# replace each other in turn.
FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class Limited:
    """The statements that are shown, and what was left out."""

    statements: Statements
    left_out: LeftOut


class StickyLimit:
    """Remembers which statements of one server were admitted.

    Args:
        places: most statements to show, at least 1.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._admitted: set[StatementKey] = set()

    def apply(self, statements: Statements) -> Limited:
        """Leave out the statements without a place; needs the column ``seconds``."""
        cost = dict(zip(statements.keys, statements.columns[COST], strict=True))
        self._admitted &= cost.keys()
        outside = sorted(cost.keys() - self._admitted, key=cost.__getitem__)
        while outside and len(self._admitted) < self._places:
            self._admitted.add(outside.pop())
        self._replace(outside, cost)
        return _limited(statements, self._admitted, cost)

    def _replace(
        self, outside: list[StatementKey], cost: dict[StatementKey, float]
    ) -> None:
        """Let the costliest *outside* (ascending) take the places of the cheapest."""
        inside = sorted(self._admitted, key=cost.__getitem__)
        for cheapest, newcomer in zip(inside, reversed(outside), strict=False):
            if cost[newcomer] <= FACTOR * cost[cheapest]:
                break
            self._admitted.remove(cheapest)
            self._admitted.add(newcomer)


def _limited(
    statements: Statements,
    admitted: set[StatementKey],
    cost: dict[StatementKey, float],
) -> Limited:
    chosen = [key in admitted for key in statements.keys]
    total = sum(cost.values())
    shown = sum(cost[key] for key in admitted)
    left_out = LeftOut(
        statements=len(chosen) - sum(chosen),
        share=max(0.0, 1 - shown / total) if total > 0 else 0.0,
    )
    kept = replace(
        statements,
        keys=list(compress(statements.keys, chosen)),
        columns={
            field: list(compress(values, chosen))
            for field, values in statements.columns.items()
        },
    )
    return Limited(kept, left_out)
