"""Abrupt rises that many queries share → one finding each, with what it costs.

A factor that jumped at the deploy by J (a logarithm) makes a member with the loading l
slower by exp(l·J). So of the load L that the member has after the deploy the rise costs

    L · (1 − exp(−l·J))

and a detected member whose own rise may be as small as that is explained by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...model import (
    Cause,
    Estimate,
    Floats,
    Outcome,
    QueryKey,
    Settings,
    Severity,
    SharedFactor,
    SharedRise,
)
from ..detectors.base import OUTCOME, Judged
from ..prepare.prepared import Prepared
from .rates import Rates

# How many members are named.
_NAMED = 20


def shared_rises(
    prepared: Prepared,
    judged: Judged,
    rates: Rates,
    settings: Settings,
    causes: Callable[[QueryKey], Sequence[Cause]],
) -> list[SharedRise]:
    """Those of one server that are worth reporting, the costliest first.

    Args:
        rates: of the same queries.
        causes: what may have slowed a query besides the deploy.
    """
    load = rates.after.load()
    rises = [
        _rise(factor, prepared, judged, load, settings, causes)
        for factor in judged.factors
        if factor.jump.abrupt and np.expm1(factor.jump.size) >= settings.threshold
    ]
    return sorted(rises, key=lambda one: -one.extra_seconds_per_second)


def _rise(
    factor: SharedFactor,
    prepared: Prepared,
    judged: Judged,
    load: Floats,
    settings: Settings,
    causes: Callable[[QueryKey], Sequence[Cause]],
) -> SharedRise:
    jump, members = factor.jump, factor.members
    rows = prepared.rows[members]
    cost = load[rows] * -np.expm1(-factor.loadings * jump.size)
    ranked = np.argsort(-cost, kind="stable")
    total, size = float(cost.sum()), float(np.exp(jump.size))
    critical = total >= settings.critical_load or size >= settings.critical_factor
    keys = prepared.keys
    slower = members[prepared.risen[members]]
    return SharedRise(
        server=prepared.server,
        whole=factor.common,
        queries=int(members.size),
        members=tuple(keys[rows[place]] for place in ranked[:_NAMED]),
        factor=Estimate(size, float(np.exp(jump.low)), float(np.exp(jump.high))),
        largest_before=float(np.exp(jump.largest_before)),
        moments=jump.moments,
        extra_seconds_per_second=total,
        severity=Severity.CRITICAL if critical else Severity.WARNING,
        explained=tuple(_explained(factor, prepared, judged)),
        causes=_common([causes(keys[row]) for row in prepared.rows[slower]]),
    )


def _explained(
    factor: SharedFactor, prepared: Prepared, judged: Judged
) -> Iterator[QueryKey]:
    """Detected members whose interval reaches down to what all members do."""
    if judged.significances is None:
        return
    members = factor.members
    rows = prepared.rows[members]
    least = prepared.factor[rows] / judged.significances.width[members]
    shared = np.exp(factor.loadings * factor.jump.high)
    detected = judged.outcomes[members] == OUTCOME[Outcome.DETECTED]
    for row in rows[detected & (least <= shared)].tolist():
        yield prepared.keys[row]


def _common(causes: Sequence[Sequence[Cause]]) -> tuple[Cause, ...]:
    """The external causes that more than half of the queries have."""
    external = [
        {cause for cause in several if cause.external} for several in causes if several
    ]
    counts = Counter(cause for several in external for cause in several)
    return tuple(cause for cause, count in counts.items() if 2 * count > len(causes))
