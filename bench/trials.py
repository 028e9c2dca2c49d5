"""Many simulated queries through both engines' rules, in arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluator.engine.detectors.base import search
from evaluator.engine.noise.model import assess
from evaluator.engine.prepare.intervals import USABLE, Intervals
from evaluator.engine.prepare.windows import both_sides, rise_matters
from evaluator.model import Assessment, Floats, Panel, Settings

from .noise import Kind

MINUTE = 60.0
THRESHOLD = Settings().threshold
# How far from the deploy a change still counts as its own, in windows.
TOLERANCE = Settings(window=MINUTE * 30).tolerance / (MINUTE * 30)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """s queries; *before* intervals end by the deploy, *window* of them searched.

    Args:
        dispersion: as in a panel, where it is known.
    """

    means: Floats
    calls: Floats
    before: int
    window: int
    dispersion: Floats | None = None

    def slower(self, factors: Floats, *, early: int = 0) -> Trial:
        """The same noise, slower by *factors* (s,) from *early* before the deploy."""
        means = self.means.copy()
        dispersion = None if self.dispersion is None else self.dispersion.copy()
        means[:, self.before - early :] *= factors[:, None]
        if dispersion is not None:
            dispersion[:, self.before - early :] *= factors[:, None] ** 2
        return replace(self, means=means, dispersion=dispersion)

    def until(self, after: int) -> Trial:
        """What is known *after* intervals after the deploy."""
        return self._part(slice(None), slice(self.before + after))

    def rows(self, chosen: slice) -> Trial:
        return self._part(chosen, slice(None))

    def _part(self, rows: slice, columns: slice) -> Trial:
        return replace(
            self,
            means=self.means[rows, columns],
            calls=self.calls[rows, columns],
            dispersion=None
            if self.dispersion is None
            else self.dispersion[rows, columns],
        )


def draw(
    kind: Kind,
    rng: Generator,
    *,
    cv: Floats,
    calls: Floats,
    before: int,
    window: int,
    after: int,
) -> Trial:
    """Simulate one query for each of (s,) *cv* and *calls* per interval."""
    factors, counted = kind(rng, cv[:, None], calls[:, None], before + after)
    usual = np.exp(rng.normal(np.log(0.005), 1.5, (len(cv), 1)))
    return Trial(usual * factors, counted, before, window)


def calibrated(trial: Trial) -> Assessment:
    """The calibrated rule over the queries as one family."""
    t = trial.means.shape[1]
    starts: Floats = MINUTE * np.arange(t, dtype=np.float64)
    panel = Panel(
        starts=starts,
        ends=starts + MINUTE,
        means=trial.means,
        calls=trial.calls,
        before=trial.before,
        after=trial.before,
        window=trial.window,
        dispersion=trial.dispersion,
    )
    length = MINUTE * trial.window
    return assess(panel, at=_at(trial), window=length, tolerance=TOLERANCE * length)


def alone(trial: Trial) -> Floats:
    """P-values of queries that have no family to learn from."""
    few = 15
    parts = [
        calibrated(trial.rows(slice(first, first + few))).p_value
        for first in range(0, len(trial.means), few)
    ]
    return np.concatenate(parts)


def classic(trial: Trial) -> tuple[Floats, NDArray[np.bool_]]:
    """(s,) nominal p of the classic rule, and whether its split is near and upward.

    The pre-filter is not applied; p is NaN where the split is not near.
    """
    window = _window(trial)
    found = search(
        trial.means[:, trial.before - trial.window :],
        window.usable,
        window.starts(),
        window.ends,
        at=_at(trial),
        tolerance=TOLERANCE * MINUTE * trial.window,
    )
    return found.tests.p_nominal, found.near & found.tests.upward


def matters(trial: Trial) -> NDArray[np.bool_]:
    """The pre-filter: +20 % of all time over all calls, window against window."""
    before, after = both_sides(_window(trial), _at(trial))
    return rise_matters(after.mean / before.mean, THRESHOLD)


def _at(trial: Trial) -> float:
    """Time of the deploy, seconds after the first interval."""
    return MINUTE * trial.before


def _window(trial: Trial) -> Intervals:
    """The intervals that both windows hold; all of them are usable."""
    first = trial.before - trial.window
    calls = trial.calls[:, first:]
    shape = calls.shape
    return Intervals(
        times=MINUTE * np.arange(first, first + shape[1] + 1.0),
        lags=np.broadcast_to(np.int32(1), shape),
        usable=np.ones(shape, dtype=bool),
        kinds=np.full(shape, USABLE, dtype=np.int8),
        calls=calls,
        seconds=trial.means[:, first:] * calls,
        further={},
    )
