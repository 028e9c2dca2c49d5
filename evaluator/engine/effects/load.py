"""The load of a server before and after, and where its change comes from.

Of a statement with the call rate λ and the mean time m on both sides (Bennet 1920):

    λ₁m₁ − λ₀m₀ = (m₁ − m₀)(λ₀ + λ₁)/2  +  (λ₁ − λ₀)(m₀ + m₁)/2
                  slower calls              more calls

This is exact, needs no rest, and treats both sides alike. Where nothing ran on one side
its mean is taken to be that of the other, so that all of the change is calls. The whole
change of a statement that is new, or has vanished, is a part of its own.
"""

from __future__ import annotations

import numpy as np

from ...model import (
    Contribution,
    Estimate,
    Flags,
    Floats,
    LoadChange,
    LoadKind,
    LoadPart,
)
from ..stats.jackknife import half_width
from .estimates import estimate
from .rates import Rates

# Statements that are named with each part.
_NAMED = 5
_KINDS = tuple(LoadKind)


def load_change(rates: Rates, new: Flags, vanished: Flags) -> LoadChange:
    """Take the change of a server's load apart.

    Args:
        new, vanished: (s,) statements that are; none is both.
    """
    parts = contributions(rates, new, vanished)
    whole = _totals(rates, parts)
    width = half_width(
        [
            np.array(
                [
                    _totals(
                        rates,
                        contributions(rates, new, vanished, **{side: block}),
                        **{side: block},
                    )
                    for block in getattr(rates, side).filled
                ]
            ).reshape(-1, whole.size)
            for side in ("before", "after")
        ]
    )
    before, after, *changes = (
        estimate(value, wide) for value, wide in zip(whole, width, strict=True)
    )
    return LoadChange(
        server=rates.server,
        before=before,
        after=after,
        parts=tuple(
            _part(rates, kind, change, part)
            for kind, change, part in zip(_KINDS, changes, parts, strict=True)
        ),
    )


def contributions(
    rates: Rates,
    new: Flags,
    vanished: Flags,
    *,
    before: int | None = None,
    after: int | None = None,
) -> Floats:
    """(kinds, s) what each statement adds to each part, execution seconds per second.

    Args:
        before, after: a block of that side to leave out.
    """
    load_0, load_1 = rates.before.load(before), rates.after.load(after)
    rate_0, rate_1 = rates.before.rate(before), rates.after.rate(after)
    change = load_1 - load_0
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_0, mean_1 = load_0 / rate_0, load_1 / rate_1
    both = (rate_0 > 0) & (rate_1 > 0) & ~new & ~vanished
    slower = np.where(both, (mean_1 - mean_0) * (rate_0 + rate_1) / 2.0, 0.0)
    # What is left is the second term of the equation; by subtraction it adds up.
    return np.stack(
        [
            slower,
            np.where(new | vanished, 0.0, change - slower),
            np.where(new, change, 0.0),
            np.where(vanished, change, 0.0),
        ]
    )


def _totals(
    rates: Rates,
    parts: Floats,
    *,
    before: int | None = None,
    after: int | None = None,
) -> Floats:
    """(2 + kinds,) load before and after, and the change by each part."""
    sides = rates.before.load(before).sum(), rates.after.load(after).sum()
    return np.concatenate([sides, parts.sum(axis=1)])


def _part(rates: Rates, kind: LoadKind, change: Estimate, part: Floats) -> LoadPart:
    order = np.argsort(-np.abs(part), kind="stable")[:_NAMED]
    return LoadPart(
        kind,
        change,
        statements=int(np.count_nonzero(part)),
        largest=tuple(
            Contribution(rates.keys[row], float(part[row]))
            for row in order.tolist()
            if part[row] != 0.0
        ),
    )
