"""Statements that are called more often since the deploy than traffic explains.

Statements whose calls did not rise by the threshold beyond traffic are not looked at
further and have p = 1; the others are tested among their own noise. Traffic, and what
noise is usual, is learnt from those with the most time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...model import (
    Batch,
    CallFlood,
    Estimate,
    Flags,
    Floats,
    Places,
    QueryKey,
    Settings,
)
from ..prepare.prepared import Prepared
from ..stats.multiple_testing import q_values
from .calls.assessment import assess_rates, interval_of
from .calls.stretches import call_rates
from .calls.traffic import LEAST_STATEMENTS
from .rates import Rates

# Statements from which traffic and usual noise are learnt.
_REFERENCE = 500
# Part of the floor of calls that has to be there before the deploy: what was hardly
# called and now is all the time is what is looked for.
_FEWER = 10


@dataclass(frozen=True, slots=True, eq=False)
class FloodTest:
    """What the test says of the q statements of a server.

    Args:
        tested: (q,) past the floors, so part of the family.
        asked: (q,) of these, those whose calls rose by the threshold beyond traffic.
        p_value: (q,) of the whole rule; 1 where not asked.
        log_error: (q,) standard error of the logarithm of the factor; NaN there.
        traffic: factor by which calls rose in common.
    """

    tested: Flags
    asked: Flags
    p_value: Floats
    log_error: Floats
    traffic: float


def flood_test(
    batch: Batch, prepared: Prepared, at: float, end: float, settings: Settings
) -> FloodTest:
    """Test the call rates of the statements of one server.

    Args:
        prepared: of the same statements.
        at, end: the deploy and the end of what is looked at, Unix seconds.
    """
    q = len(batch.keys)
    p_value, log_error = np.ones(q), np.full(q, np.nan)
    before, after = prepared.before, prepared.after
    tested = after.enough(settings.min_samples, settings.min_calls)
    tested &= before.calls * _FEWER >= settings.min_calls
    asked = np.zeros(q, dtype=bool)
    common = 0.0
    if tested.any():
        longer = np.log(after.duration[tested].max() / before.duration[tested].max())
        log_factor = np.log(after.calls[tested] / before.calls[tested]) - longer
        if log_factor.size >= LEAST_STATEMENTS:
            common = float(np.median(log_factor))
        asked[tested] = log_factor - common >= np.log1p(settings.calls_threshold)
    if asked.any():
        rows, reference = _panel(before.seconds, tested, asked)
        found = call_rates(batch, rows, at, end, settings)
        wanted = asked[rows]
        p, error = assess_rates(
            found, wanted, reference, settings.tolerance, settings.window
        )
        place = np.flatnonzero(wanted)
        p_value[rows[place]], log_error[rows[place]] = p[place], error[place]
    return FloodTest(tested, asked, p_value, log_error, float(np.exp(common)))


def family_q_values(
    tests: Sequence[FloodTest], rates: Floats, means: Sequence[Floats]
) -> list[Floats]:
    """For each server (q,) q-values of its call rates; 1 where not tested.

    Args:
        rates: p-values of all that are tested, server after server.
        means: those of the means, which are of the same family; empty where the method
            judges each mean alone.
    """
    q = q_values(np.concatenate([rates, *means]))
    found, first = [], 0
    for test in tests:
        whole = np.ones(test.tested.size)
        last = first + int(np.count_nonzero(test.tested))
        whole[test.tested] = q[first:last]
        found.append(whole)
        first = last
    return found


def call_floods(
    rates: Rates,
    test: FloodTest,
    q_value: Floats,
    texts: Mapping[QueryKey, str],
    settings: Settings,
) -> list[CallFlood]:
    """Those that are found, the further calls that take most time first.

    Args:
        q_value: (q,) over means and rates of all statements of the deploy.
    """
    whole = float(rates.after.load().sum())
    found = []
    for row in np.flatnonzero(test.asked & (q_value <= settings.alpha)).tolist():
        before, after = rates.usage(row)
        if not before.calls > 0 or after.mean is None:
            continue
        factor = after.calls / before.calls / test.traffic
        low, high = interval_of(np.array([factor]), test.log_error[row : row + 1])
        further = (after.calls - before.calls * test.traffic) * after.mean
        share = max(further, 0.0) / whole if whole > 0 else 0.0
        found.append(
            CallFlood(
                key=rates.keys[row],
                before=before,
                after=after,
                factor=Estimate(factor, float(low[0]), float(high[0])),
                traffic=test.traffic,
                p_value=float(test.p_value[row]),
                q_value=float(q_value[row]),
                share=share,
                notable=share >= settings.notable_share,
                text=texts.get(rates.keys[row], ""),
            )
        )
    return sorted(found, key=lambda flood: (-flood.share, flood.key))


def _panel(cost: Floats, tested: Flags, asked: Flags) -> tuple[Places, Flags]:
    """Rows that are read, ascending, and which of them are the reference."""
    best = np.argsort(-np.where(tested, cost, -1.0), kind="stable")[:_REFERENCE]
    reference = np.zeros(len(tested), dtype=bool)
    reference[best] = True
    reference &= tested
    rows = np.flatnonzero(reference | asked)
    return rows, reference[rows]
