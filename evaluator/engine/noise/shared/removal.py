"""Everything that queries share, taken out: what groups do, and what all do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model import Flags, Floats, Jump, Panel, SharedFactor
from ...stats.blocks import blocks
from ...stats.moments import robust_deviation
from ..common_factor import (
    CommonFactor,
    abrupt_step,
    column_medians,
    common_factor,
    loadings,
    without_factor,
)
from ..scope import Scope
from .groups import LEAST_DEVIATION, common_path, without_groups
from .jump import measure_jump


@dataclass(frozen=True, slots=True, eq=False)
class Removed:
    """What is left of s queries, and what was taken out.

    Args:
        rest: (s, t) logarithms, 0 where absent.
        error: (s,) variance of a rise by loadings badly known.
        common_rise: factor of an abrupt rise of all at the deploy, 1 without one.
        factors: of groups, and of all; empty with too few queries to see any.
    """

    rest: Floats
    error: Floats
    common_rise: float = 1.0
    factors: tuple[SharedFactor, ...] = ()

    @property
    def abrupt(self) -> bool:
        """Whether any of it jumped at the deploy."""
        return any(factor.jump.abrupt for factor in self.factors)


def remove_shared(
    panel: Panel, logs: Floats, scope: Scope, reference: Flags
) -> Removed:
    """Take out what can be seen with so many queries and so much history.

    Args:
        logs: (s, t) logarithms around each query's level, 0 where absent.
        reference: (s,) queries that show what is shared.
    """
    nothing = np.zeros(len(logs))
    if not scope.sees_factor:
        return Removed(logs, nothing)
    deviation = _deviation(panel, logs)
    if not scope.groups:
        known, calls = logs[reference], panel.calls[reference]
        middle = column_medians(known, calls)
        middle -= np.median(middle[: panel.before])
        step = abrupt_step(middle, panel.before, panel.after)
        factor = _common(panel, middle, step, deviation, reference)
        rest, error, loading = _without_common(panel, logs, deviation, factor, scope)
        jump = measure_jump(middle, panel, head=scope.head)
        everybody = _of_all(panel, middle, loading, jump)
        return Removed(rest, error, float(np.exp(step)), (everybody,))
    groups = without_groups(panel, logs, scope, reference)
    middle = common_path(panel, groups.rest, reference)
    jump = measure_jump(middle, panel, head=scope.head)
    step = jump.size if jump.abrupt else 0.0
    deviation = _deviation(panel, groups.rest)
    factor = _common(panel, middle, step, deviation, reference)
    rest, error, loading = _without_common(panel, groups.rest, deviation, factor, scope)
    return Removed(
        rest,
        groups.error + error,
        float(np.exp(step)),
        (*groups.factors, _of_all(panel, middle, loading, jump)),
    )


def _deviation(panel: Panel, logs: Floats) -> Floats:
    """(s, 1) robust deviation before the deploy."""
    past = slice(0, panel.before)
    deviation: Floats = np.maximum(
        np.concatenate(
            [
                robust_deviation(logs[rows, past], panel.calls[rows, past] > 0)
                for rows in blocks(*logs.shape)
            ]
        ),
        LEAST_DEVIATION,
    )
    return deviation


def _common(
    panel: Panel, middle: Floats, step: float, deviation: Floats, reference: Flags
) -> CommonFactor:
    count = np.count_nonzero(panel.calls[reference])
    return common_factor(
        middle,
        step,
        deviation[reference],
        count / panel.starts.size,
        after=panel.after,
    )


def _without_common(
    panel: Panel, logs: Floats, deviation: Floats, factor: CommonFactor, scope: Scope
) -> tuple[Floats, Floats, Floats]:
    """(s, t) what is left, (s,) variance added to a rise, and (s,) loadings."""
    rest, error, values = np.empty(logs.shape), np.empty(len(logs)), np.empty(len(logs))
    # What the factor did since the baseline is taken out by loadings badly known.
    change = factor.values[scope.new].mean() - factor.values[scope.old].mean()
    for rows in blocks(*logs.shape):
        present = panel.calls[rows] > 0
        loading = loadings(
            logs[rows], present, deviation[rows], factor, before=panel.before
        )
        rest[rows] = without_factor(logs[rows], present, loading, factor)
        error[rows] = loading.variance * change**2
        values[rows] = loading.values
    return rest, error, values


def _of_all(panel: Panel, path: Floats, loading: Floats, jump: Jump) -> SharedFactor:
    return SharedFactor(
        members=np.arange(len(loading)),
        loadings=loading,
        ends=panel.ends,
        path=path,
        jump=jump,
        common=True,
    )
