"""Statements that got faster at the deploy: people deploy fixes.

The calibrated method has a score that is standard normal without a change, so Φ(score)
is the chance of so large a fall; all queries past the floors are one family, as for the
rises. The classic method tests the best split of what fell. Either way the change must
lie near the deploy, and the mean must have fallen by as much as a rise has to rise:
to 1/(1 + threshold) or less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from ...model import Flags, Floats, Improvement, Settings
from ..detectors.base import Judged, search
from ..prepare.prepared import Prepared
from ..stats.multiple_testing import q_values
from .rates import Rates


def improvements(
    servers: Sequence[tuple[Prepared, Judged, Rates]], at: float, settings: Settings
) -> list[Improvement]:
    """Those of all servers, those that save most first.

    Args:
        at: time of the deploy, Unix seconds.
    """
    q = _q_values([judged for _, judged, _ in servers])
    found = []
    for (prepared, judged, rates), q_value in zip(servers, q, strict=True):
        fell = prepared.fell(settings.threshold)
        if judged.significances is None or q_value is None:
            faster = _by_split(prepared, fell, at, settings)
        else:
            faster = fell & judged.significances.near & (q_value <= settings.alpha)
        for place in np.flatnonzero(faster).tolist():
            row = int(prepared.rows[place])
            before, after = rates.usage(row)
            if before.mean is None or after.mean is None:
                continue
            found.append(
                Improvement(
                    key=prepared.keys[row],
                    before=before,
                    after=after,
                    factor=float(prepared.factor[row]),
                    saved=(before.mean - after.mean) * after.calls,
                    q_value=None if q_value is None else float(q_value[place]),
                )
            )
    return sorted(found, key=lambda one: (-one.saved, one.key))


def _q_values(judged: Sequence[Judged]) -> list[Floats | None]:
    """Of falls, for each server (s,); None by a method that does not correct."""
    known = [one.significances for one in judged]
    scores = [one.score for one in known if one is not None]
    if len(scores) < len(known) or not scores:
        return [None] * len(known)
    ends = np.cumsum([score.size for score in scores])[:-1]
    return list(np.split(q_values(ndtr(np.concatenate(scores))), ends))


def _by_split(prepared: Prepared, fell: Flags, at: float, settings: Settings) -> Flags:
    """(s,) whether the best split is near, downward and significant by itself."""
    changes = search(
        *prepared.window_of(fell),
        prepared.times[prepared.first + 1 :],
        at=at,
        tolerance=settings.tolerance,
    )
    tests = changes.tests
    faster = np.zeros(fell.size, dtype=bool)
    with np.errstate(invalid="ignore"):
        faster[fell] = (
            (changes.statistics > 0.0)
            & changes.near
            & ~tests.upward
            & (tests.p_nominal <= settings.alpha)
        )
    return faster
