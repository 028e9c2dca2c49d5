"""Which plan was in force before the deploy, which after, and what differs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ...model import PlanChange, PlanSeen, QueryKey

# An outline reads ``Limit > Hash Join (Seq Scan a, Index Scan b_pkey on b)``; a long
# one is cut, and then ends in an ellipsis.
_BETWEEN_NODES = re.compile(r"\s*[>(),]\s*")
_CUT = "…"


def plan_change(
    key: QueryKey, plans: Iterable[PlanSeen], *, at: float, replaces: str = ""
) -> PlanChange | None:
    """The last plan in force before *at* and the first other one after it.

    Plans are looked up on a slow schedule, so the old plan may be seen for a while
    after it went out of use.

    Args:
        plans: of any queries, in any order.
        at: time of the deploy, Unix seconds.
        replaces: query id that the same statement had before, or empty.

    Returns:
        None where the plan stayed the same, or is not known on both sides.
    """
    keys = (key, _renamed(key, replaces)) if replaces else (key,)
    own = [plan for plan in plans if plan.key in keys]
    before = [plan for plan in own if plan.first <= at]
    if not before:
        return None
    last = max(before, key=lambda plan: (min(plan.last, at), plan.first, plan.plan_id))
    others = [plan for plan in own if plan.first > at and plan.plan_id != last.plan_id]
    if not others:
        return None
    first = min(others, key=lambda plan: (plan.first, plan.plan_id))
    old, new = _nodes(last.outline), _nodes(first.outline)
    return PlanChange(
        before=last.outline,
        after=first.outline,
        lost=tuple((old - new).elements()),
        gained=tuple((new - old).elements()),
    )


def _renamed(key: QueryKey, queryid: str) -> QueryKey:
    return QueryKey(key.instance, key.database, key.user, queryid, key.toplevel)


def _nodes(outline: str) -> Counter[str]:
    """Nodes with their relations and indexes, in the order of the outline."""
    parts = _BETWEEN_NODES.split(outline)
    return Counter(part for part in parts if part and not part.endswith(_CUT))
