"""What queries share is taken out of each of them: groups first, then all together.

logarithms → standardised, in points of five minutes → factors of groups → their paths
in every interval → without jumps at the deploy → out → mode of the rest → out
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model import Flags, Floats, Panel, Places, SharedFactor
from ...stats.moments import robust_deviation
from ..scope import Scope
from .factors import Factors, learn_factors
from .jump import measure_jump
from .mode import column_modes
from .paths import factor_paths, without_factors
from .rank import time_blocks

# Length of the points from which factors are learnt: a shorter one shows more of the
# noise of single intervals, a longer one fewer points.
_POINT = 300.0
# Standard deviations beyond which a value is an outlier.
_OUTLIER = 4.0
# A deviation below this would make every query follow the factors exactly.
LEAST_DEVIATION = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class GroupNoise:
    """What groups of queries shared.

    Args:
        rest: (s, t) logarithms without it, 0 where absent.
        error: (s,) variance that badly known loadings add to a rise.
        factors: each with its path and its jump; those of loadings all 0 left out.
    """

    rest: Floats
    error: Floats
    factors: tuple[SharedFactor, ...]


def without_groups(
    panel: Panel, logs: Floats, scope: Scope, reference: Flags
) -> GroupNoise:
    """Learn the factors of the history and take them out.

    Args:
        logs: (s, t) logarithms around each query's level, 0 where absent.
        reference: (s,) queries that find the factors.
    """
    present, past = panel.present, slice(0, panel.before)
    deviation = robust_deviation(logs[:, past], present[:, past])
    deviation = np.maximum(deviation, LEAST_DEVIATION)
    z = np.clip(logs / deviation, -_OUTLIER, _OUTLIER)
    point_of = _point_of(panel)
    factors = learn_factors(_points(z, present, point_of), reference)
    nothing = np.zeros(len(logs))
    if factors is None:
        return GroupNoise(logs, nothing, ())
    paths = factor_paths(z, present, factors, before=panel.before, after=panel.after)
    scale = deviation[:, 0]
    kept = paths.values.copy()
    shared = []
    for number, path in enumerate(paths.values):
        loadings = factors.loadings[:, number] * scale
        members = np.flatnonzero(factors.members[:, number])
        unit = float(np.median(np.abs(loadings[members])))
        jump = measure_jump(path * unit, panel, head=scope.head)
        shared.append(
            SharedFactor(
                members=members,
                loadings=loadings[members] / unit,
                ends=panel.ends,
                path=path * unit,
                jump=jump,
                common=False,
            )
        )
        if jump.abrupt:
            kept[number, panel.after :] -= jump.size / unit
    rest = logs.copy()
    without_factors(rest, scale, factors, paths, kept, _block_of(panel, point_of))
    if not present.all():
        rest *= present
    return GroupNoise(rest, _error(factors, kept, scale, scope), tuple(shared))


def _point_of(panel: Panel) -> Places:
    """(before,) number of the point of each interval before the deploy."""
    ends = panel.ends[: panel.before]
    back = np.floor((panel.ends[panel.before - 1] - ends) / _POINT + 1e-6)
    _, point = np.unique(-back, return_inverse=True)
    return np.asarray(point, dtype=np.intp)


def _points(z: Floats, present: Flags, point_of: Places) -> Floats:
    """(k, s) means of each query in each point, its own mean taken out."""
    firsts = np.flatnonzero(np.diff(point_of, prepend=-1))
    past = slice(0, point_of.size)
    there = present[:, past]
    count = np.add.reduceat(there.astype(np.float64), firsts, axis=1)
    means = np.add.reduceat(z[:, past] * there, firsts, axis=1) / np.maximum(count, 1.0)
    level = means.sum(axis=1) / np.maximum(np.count_nonzero(count, axis=1), 1)
    centred: Floats = np.where(count > 0, means - level[:, None], 0.0).T
    return centred


def _block_of(panel: Panel, point_of: Places) -> Places:
    """(t,) block of time that each interval of the history lies in; -1 after it."""
    block_of = np.full(panel.starts.size, -1)
    for number, (points, _) in enumerate(time_blocks(int(point_of[-1]) + 1)):
        inside = (point_of >= points.start) & (point_of < points.stop)
        block_of[: panel.before][inside] = number
    return block_of


def _error(factors: Factors, kept: Floats, scale: Floats, scope: Scope) -> Floats:
    """(s,) what badly known loadings add where a factor swings beyond its usual.

    Usual swings left their part of it in the noise of the history already.
    """
    swing = kept[:, scope.new].mean(axis=1) - kept[:, scope.old].mean(axis=1)
    length = scope.new.stop - scope.new.start
    usual = [
        kept[:, at : at + length].mean(axis=1)
        - kept[:, at - scope.baseline : at].mean(axis=1)
        for at in scope.placebos
    ]
    beyond = swing**2 - (np.mean(np.square(usual), axis=0) if usual else 0.0)
    error: Floats = (factors.variance @ np.maximum(beyond, 0.0)) * scale**2
    return error


def common_path(panel: Panel, rest: Floats, reference: Flags) -> Floats:
    """(t,) mode of the reference queries in each interval, around its median."""
    present, past = panel.present[reference], slice(0, panel.before)
    known = rest[reference]
    deviation = robust_deviation(known[:, past], present[:, past])[:, 0]
    mode = column_modes(known, present, np.maximum(deviation, LEAST_DEVIATION))
    centred: Floats = mode - np.median(mode[past])
    return centred
