"""Statements that are called more often since the deploy than traffic explains.

Statements whose calls did not rise by the threshold beyond traffic are not looked at
further and have p = 1; the others are tested among their own noise. Traffic, and what
noise is usual, is learnt from those with the most time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Batch, Flags, Floats, Places, Settings
from .call_rates import call_rates
from .rate_test import assess_rates
from .rates import Rates
from .traffic import LEAST_STATEMENTS

# Statements from which traffic and usual noise are learnt.
_REFERENCE = 500
# Part of the floor of calls that has to be there before the deploy: what was hardly
# called and now is all the time is what is looked for.
_FEWER = 10


@dataclass(frozen=True, slots=True, eq=False)
class FloodTest:
    """What the test says of s statements, of which most were not looked at.

    Args:
        tested: (s,) past the floors, so part of the family.
        p_value: (s,) of the whole rule; 1 where calls did not rise by the threshold.
        log_error: (s,) standard error of the logarithm of the factor; NaN there.
        traffic: factor by which calls rose in common.
    """

    tested: Flags
    p_value: Floats
    log_error: Floats
    traffic: float


def flood_test(
    batch: Batch,
    rates: Rates,
    old: Flags,
    at: float,
    end: float,
    settings: Settings,
) -> FloodTest:
    """Test the call rates of the statements of one server.

    Args:
        rates: of the same statements, in both windows.
        old: (s,) statements that are not new.
        at, end: the deploy and the end of what is looked at, Unix seconds.
    """
    s = len(batch.keys)
    p_value, log_error = np.ones(s), np.full(s, np.nan)
    tested = old & _enough(rates, settings)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_factor = np.log(rates.after.rate() / rates.before.rate())
    common = _common_rise(log_factor[tested])
    threshold = np.log1p(settings.calls_threshold)
    asked = tested & (log_factor - common >= threshold)
    if asked.any():
        rows, reference = _panel(rates, tested, asked)
        found = call_rates(batch, rows, at, end, settings)
        p, error = assess_rates(found, reference, settings.tolerance, settings.window)
        place = np.flatnonzero(asked[rows])
        p_value[rows[place]], log_error[rows[place]] = p[place], error[place]
    return FloodTest(tested, p_value, log_error, float(np.exp(common)))


def _enough(rates: Rates, settings: Settings) -> Flags:
    enough = np.ones(len(rates.keys), dtype=bool)
    for side in (rates.before, rates.after):
        enough &= side.calls.sum(axis=1) >= settings.min_calls / _FEWER
        # Most of the blocks, so that a level can be told from a burst.
        enough &= np.count_nonzero(side.observed > 0, axis=1) * 2 > (
            side.observed.shape[1]
        )
    enough &= rates.after.calls.sum(axis=1) >= settings.min_calls
    return enough


def _common_rise(log_factor: Floats) -> float:
    """Median rise of the calls; 0 with too few statements to tell."""
    known = log_factor[np.isfinite(log_factor)]
    return float(np.median(known)) if known.size >= LEAST_STATEMENTS else 0.0


def _panel(rates: Rates, tested: Flags, asked: Flags) -> tuple[Places, Flags]:
    """Rows that are read, ascending, and which of them are the reference."""
    cost = np.where(tested, rates.before.load(), -1.0)
    best = np.argsort(-cost, kind="stable")[:_REFERENCE]
    reference = np.zeros(len(tested), dtype=bool)
    reference[best] = True
    reference &= tested
    rows = np.flatnonzero(reference | asked)
    return rows, reference[rows]
