"""The p-value of the whole rule: a score, given that the best split fell near.

Without a change the score is standard normal, and the best split falls inside the
tolerance with a chance c that grows with the score. So the chance that the rule finds
at least as much is the integral of c over the normal tail, to any precision. The
chances come from simulated autoregressions *conditioned on the score*, kept beside this
file and made again by ``python -m bench.selection_table``.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ...model import Floats

# The tolerance of the table over the length of the window.
TOLERANCE = 0.2
# The axes of the table: intervals in the window before; intervals after, and of the
# baseline, over those; autocorrelation; score.
WINDOWS = (10, 30, 120)
AFTERS = (1 / 3, 1 / 2, 2 / 3, 5 / 6, 1.0)
BASELINES = (1, 2, 4)
PHIS = (0.0, 0.3, 0.5, 0.7, 0.9)
SCORES = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)

_FINE = np.linspace(0.0, 10.0, 2001)
_DENSITY = np.exp(-0.5 * _FINE**2) / np.sqrt(2.0 * np.pi)


def whole_rule_p(
    score: Floats,
    phi: Floats,
    *,
    window: int,
    after: int,
    baseline: int,
    tolerance: float,
) -> Floats:
    """Chance, without a change, of a near upward split and a score at least as large.

    Args:
        score: (s,) standard normal without a change.
        phi: (s,) autocorrelation of neighbouring intervals.
        window, after, baseline: intervals in the window before, after the deploy, and
            behind the mean before.
        tolerance: over the length of the window; wider than the table's, the split
            counts as certain to be near.

    Returns:
        (s,) chances, valid where the split is near; where it is not the chance is 1.
    """
    if tolerance > TOLERANCE + 1e-9:
        return tail_p(score)
    logs = _log_tails(window, after, baseline)
    row, row_share = _between(np.interp(phi, PHIS, np.arange(len(PHIS))), len(PHIS))
    place = np.clip(score, 0.0, _FINE[-1]) * ((_FINE.size - 1) / _FINE[-1])
    column, share = _between(place, _FINE.size)
    low, high = (
        logs[at, column] * (1.0 - share) + logs[at, column + 1] * share
        for at in (row, row + 1)
    )
    log_p = low * (1.0 - row_share) + high * row_share
    # Past the fine grid the split is nearly certain, and the tail is the normal one.
    log_p = np.where(score > _FINE[-1], np.log(ndtr(-np.minimum(score, 37.0))), log_p)
    return np.where(score > 0, np.exp(log_p), 1.0)


def tail_p(score: Floats) -> Floats:
    """(s,) the same where every split counts as near: the chance of the score alone."""
    return np.where(score > 0, ndtr(-score), 1.0)


def _between(place: Floats, size: int) -> tuple[NDArray[np.intp], Floats]:
    """The index below each place on an axis of *size*, and the share of the next."""
    low = np.minimum(place.astype(np.intp), size - 2)
    return low, place - low


@cache
def _log_tails(window: int, after: int, baseline: int) -> Floats:
    """(phis, fine) logarithm of the integral of chance times density above a score."""
    tails = []
    for row in _chances(window, after, baseline):
        product = _DENSITY * np.interp(_FINE, SCORES, row)
        steps = (product[1:] + product[:-1]) / 2.0 * (_FINE[1] - _FINE[0])
        above = np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])
        tails.append(np.log(above + row[-1] * ndtr(-_FINE[-1])))
    return np.stack(tails)


def _chances(window: int, after: int, baseline: int) -> Floats:
    """(phis, scores) of the table at one shape, between its neighbours."""
    table = _table()
    axes = (
        (np.log(np.array(WINDOWS, dtype=float)), np.log(window)),
        (np.array(AFTERS), after / window),
        (np.log2(np.array(BASELINES, dtype=float)), np.log2(baseline / window)),
    )
    for axis, value in axes:
        place = float(np.interp(value, axis, np.arange(axis.size)))
        low = min(int(place), axis.size - 2)
        table = table[low] * (1.0 - (place - low)) + table[low + 1] * (place - low)
    return table


@cache
def _table() -> Floats:
    """(windows, afters, baselines, phis, scores) chances."""
    file = resources.files(__package__).joinpath("selection_table.txt")
    with file.open("r", encoding="ascii") as lines:
        flat = np.loadtxt(lines)
    shape = (len(WINDOWS), len(AFTERS), len(BASELINES), len(PHIS), len(SCORES))
    return flat.reshape(shape)
