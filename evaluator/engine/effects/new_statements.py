"""Statements that begin with the deploy, ranked by time, and what each may replace.

The share of a new statement is its execution time over that of all statements of its
server since the deploy. A vanished statement with the same tables, in the same
database, is what it may have replaced; of several that whose calls per second are
nearest, as a ratio, and each is given away once.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from ...model import NewStatement, QueryKey, Vanished
from .estimates import did_not_rise, joint_change
from .lives import Lives
from .rates import Rates
from .tables import tables_of

# Of a server's new statements so many are matched, those with the most time: after an
# upgrade that renames every query id there may be thousands.
_MATCHED = 100


def vanished_statements(
    rates: Rates, lives: Lives, texts: Mapping[QueryKey, str]
) -> list[Vanished]:
    """Those that end with the deploy, most time first."""
    gone = [
        Vanished(
            key=rates.keys[row],
            last_called=float(lives.last_called[row]),
            before=rates.usage(row)[0],
            text=texts.get(rates.keys[row], ""),
        )
        for row in np.flatnonzero(lives.vanished).tolist()
    ]
    return sorted(gone, key=lambda one: (-one.before.load, one.key))


def new_statements(
    rates: Rates,
    lives: Lives,
    vanished: Sequence[Vanished],
    texts: Mapping[QueryKey, str],
    *,
    notable_share: float,
) -> list[NewStatement]:
    """Those that begin with the deploy, most time first.

    Args:
        notable_share: of the server's time, from which one is notable.
    """
    whole = float(rates.after.load().sum())
    rows = np.flatnonzero(lives.new)
    order = rows[np.argsort(-rates.after.load()[rows], kind="stable")].tolist()
    place = {key: row for row, key in enumerate(rates.keys)}
    left = _by_tables(vanished)
    found = []
    for number, row in enumerate(order):
        key, (_, after) = rates.keys[row], rates.usage(row)
        text = texts.get(key, "")
        sought = (key.database, tables_of(text)) if number < _MATCHED else None
        alike = left.get(sought, []) if sought else []
        replaced = _nearest(after.calls, alike)
        pair = None
        if replaced is not None:
            alike.remove(replaced)
            pair = joint_change(rates, [row, place[replaced.key]])
        share = after.load / whole if whole > 0 else 0.0
        moved = replaced is not None and did_not_rise(pair, replaced.before.load)
        found.append(
            NewStatement(
                key=key,
                first_seen=float(lives.first_seen[row]),
                after=after,
                share=share,
                notable=share >= notable_share and not moved,
                text=text,
                replaced=replaced,
                pair=pair,
                moved=moved,
            )
        )
    return found


def _by_tables(
    vanished: Sequence[Vanished],
) -> dict[tuple[str, frozenset[str]], list[Vanished]]:
    """By database and tables; without those whose tables are not known."""
    found: dict[tuple[str, frozenset[str]], list[Vanished]] = defaultdict(list)
    for gone in vanished:
        if tables := tables_of(gone.text):
            found[gone.key.database, tables].append(gone)
    return found


def _nearest(calls: float, alike: Sequence[Vanished]) -> Vanished | None:
    """The one whose calls per second are nearest to *calls*, as a ratio."""

    def distance(one: Vanished) -> float:
        if calls <= 0 or one.before.calls <= 0:
            return math.inf
        return abs(math.log(calls / one.before.calls))

    return min(alike, key=distance, default=None)
