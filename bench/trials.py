"""Many simulated queries through both engines' rules, in arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import betainc

from evaluator.engine.noise.model import calibrate
from evaluator.engine.stats.energy_split import best_splits
from evaluator.model import Calibration, Floats, Panel, QueryKey

from .noise import Kind

MINUTE = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """s queries; *before* intervals end by the deploy, *window* of them searched.

    Args:
        scatter: as in a panel, where it is known.
    """

    means: Floats
    calls: Floats
    before: int
    window: int
    scatter: Floats | None = None

    def slower(self, factors: Floats, *, early: int = 0) -> Trial:
        """The same noise, slower by *factors* (s,) from *early* before the deploy."""
        means = self.means.copy()
        scatter = None if self.scatter is None else self.scatter.copy()
        means[:, self.before - early :] *= factors[:, None]
        if scatter is not None:
            scatter[:, self.before - early :] *= factors[:, None] ** 2
        return replace(self, means=means, scatter=scatter)

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
            scatter=None if self.scatter is None else self.scatter[rows, columns],
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


def calibrated(trial: Trial) -> Calibration:
    """The calibrated rule over the queries as one family."""
    s, t = trial.means.shape
    starts: Floats = MINUTE * np.arange(t, dtype=np.float64)
    keys = tuple(QueryKey("", "", "", f"{row:06d}", "") for row in range(s))
    panel = Panel(
        keys=keys,
        starts=starts,
        ends=starts + MINUTE,
        means=trial.means,
        calls=trial.calls,
        before=trial.before,
        after=trial.before,
        window=trial.window,
        scatter=trial.scatter,
    )
    length = MINUTE * trial.window
    return calibrate(
        panel, at=MINUTE * trial.before, window=length, tolerance=0.2 * length
    )


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

    The pre-filter is not applied.
    """
    values = trial.means[:, trial.before - trial.window :]
    n = values.shape[1]
    splits, _ = best_splits(values)
    right = np.arange(n) >= splits[:, None]
    sides = []
    for side in (~right, right):
        count = side.sum(axis=1)
        mean = (values * side).sum(axis=1) / count
        squares = (np.where(side, values - mean[:, None], 0.0) ** 2).sum(axis=1)
        sides.append((count, mean, squares / (count - 1) / count))
    (na, mean_a, error_a), (nb, mean_b, error_b) = sides
    error = error_a + error_b
    nu = error**2 / (error_a**2 / (na - 1) + error_b**2 / (nb - 1))
    t2 = (mean_b - mean_a) ** 2 / error
    near = np.abs(splits - trial.window) <= 0.2 * trial.window
    return betainc(nu / 2, 0.5, nu / (nu + t2)), near & (mean_b > mean_a)


def matters(trial: Trial) -> NDArray[np.bool_]:
    """The pre-filter: +20 % of all time over all calls, window against window."""
    seconds = trial.means * trial.calls
    old = slice(trial.before - trial.window, trial.before)
    new = slice(trial.before, None)
    mean_old = seconds[:, old].sum(axis=1) / trial.calls[:, old].sum(axis=1)
    mean_new = seconds[:, new].sum(axis=1) / trial.calls[:, new].sum(axis=1)
    return np.asarray(mean_new / mean_old - 1.0 >= 0.2)
