"""A statement takes more time because it does the work of another that went away.

    moved  ⇔  the two share a table, one vanished at the deploy, and the change of their
              load together is neither above 0 beyond its 95 % interval nor above a
              small share of what they took before

Then the cost has moved, and nobody has to be woken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...model import MovedCost, QueryKey, Vanished
from .estimates import did_not_rise, joint_change
from .rates import Rates
from .tables import tables_of


def moved_costs(
    rates: Rates,
    risen: Sequence[QueryKey],
    vanished: Sequence[Vanished],
    texts: Mapping[QueryKey, str],
) -> list[MovedCost]:
    """Which of the *risen* statements took over from a vanished one.

    Args:
        risen: statements found slower or called more often.
        vanished: not given to a new statement, most time first.
    """
    place = {key: row for row, key in enumerate(rates.keys)}
    left = [(gone, tables_of(gone.text)) for gone in vanished]
    found = []
    for key in sorted(risen, key=lambda key: -_rise(rates, place[key])):
        tables = tables_of(texts.get(key, ""))
        if not tables:
            continue
        for gone, own in left:
            if gone.key.database != key.database or not tables & own:
                continue
            before, after = rates.usage(place[key])
            change = joint_change(rates, [place[key], place[gone.key]])
            if did_not_rise(change, before.load + gone.before.load):
                found.append(MovedCost(key, gone, before, after, change))
                left.remove((gone, own))
                break
    return found


def _rise(rates: Rates, row: int) -> float:
    before, after = rates.usage(row)
    return after.load - before.load
