"""Abrupt rises that many queries share → one finding each, with what it costs.

A factor that jumped at the deploy by J (a logarithm) made a typical member slower by
exp(J). What the factor did besides, such as an hourly cycle, is in the members' windows
too, but in all alike: with w = log(mean after / mean before) of a member, it rose by

    r = J + w − median of w

which of the load L that it has after the deploy costs L · (1 − exp(−r)). Members do not
all rise alike. One that is detected is explained by what they share unless it is an
outlier among them: the low end of its interval beyond J by 2.5 standard deviations.
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
    Places,
    QueryKey,
    Settings,
    Severity,
    SharedFactor,
    SharedRise,
)
from ..detectors.base import OUTCOME, Judged
from ..prepare.prepared import Prepared
from ..stats.moments import NORMAL_MAD
from .rates import Rates

# How many members are named.
_NAMED = 20
# Standard deviations of the members' rises beyond which one is an outlier.
_OUTLIER = 2.5


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
    jump, keys = factor.jump, prepared.keys
    rises = np.log(prepared.factor[prepared.rows[factor.members]])
    rises += jump.size - np.median(rises)
    follows = rises > jump.size / 2.0
    members, rises = factor.members[follows], rises[follows]
    rows = prepared.rows[members]
    cost = load[rows] * -np.expm1(-rises)
    ranked = np.argsort(-cost, kind="stable")
    total, size = float(cost.sum()), float(np.exp(jump.size))
    critical = total >= settings.critical_load or size >= settings.critical_factor
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
        explained=tuple(_explained(members, rises, prepared, judged)),
        causes=_common([causes(keys[row]) for row in rows[prepared.risen[members]]]),
    )


def _explained(
    members: Places, rises: Floats, prepared: Prepared, judged: Judged
) -> Iterator[QueryKey]:
    """Detected members that rose no more than the others."""
    if judged.significances is None:
        return
    typical = np.median(rises)
    spread = np.median(np.abs(rises - typical)) / NORMAL_MAD
    least = rises - np.log(judged.significances.width[members])
    detected = judged.outcomes[members] == OUTCOME[Outcome.DETECTED]
    alike = least <= typical + _OUTLIER * spread
    for row in prepared.rows[members[detected & alike]].tolist():
        yield prepared.keys[row]


def _common(causes: Sequence[Sequence[Cause]]) -> tuple[Cause, ...]:
    """The external causes that more than half of the queries have."""
    external = [
        {cause for cause in several if cause.external} for several in causes if several
    ]
    counts = Counter(cause for several in external for cause in several)
    return tuple(cause for cause, count in counts.items() if 2 * count > len(causes))
