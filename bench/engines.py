"""Our engines on arrays of interval means, and such arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from evaluator.engine import judge
from evaluator.engine.detectors.base import search
from evaluator.engine.noise.model import assess
from evaluator.engine.prepare.intervals import USABLE, Intervals
from evaluator.engine.prepare.windows import both_sides, rise_matters
from evaluator.engine.stats.multiple_testing import q_values
from evaluator.model import (
    Batch,
    Deploy,
    Floats,
    Outcome,
    Panel,
    QueryKey,
    Settings,
)

AT = 1_790_000_000.0
WINDOW = 1800.0
SETTINGS = Settings(engine="classic", window=WINDOW)
SEED = 20261129


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """s queries with n intervals each, the deploy in the middle.

    Args:
        means: (s, n) seconds per call.
        intervals: the same as sums, for the classic rule.
        panel: the same for the calibrated rule.
        batch: the same as counters.
    """

    means: Floats
    intervals: Intervals
    panel: Panel
    batch: Batch


def worst(s: int, n: int) -> Input:
    """Every query is slower from the deploy on: none leaves before the last step."""
    rng = np.random.default_rng([SEED, n])
    factors = np.full((s, 1), 1.5)
    return _input(
        rng, n, cv=np.full((s, 1), 0.1), calls=np.full((s, 1), 100.0), factors=factors
    )


def mix(s: int, n: int) -> Input:
    """One in a hundred is slower; noise and traffic differ, some traffic is too low."""
    rng = np.random.default_rng([SEED, n, 1])
    factors = np.where(np.arange(s) % 100 == 50, rng.uniform(1.3, 2.0, s), 1.0)
    cv, calls = rng.uniform(0.1, 0.6, (s, 1)), 10 ** rng.uniform(0.0, 2.6, (s, 1))
    return _input(rng, n, cv=cv, calls=calls, factors=factors[:, None])


def classic(given: Input) -> int:
    """Number of queries that the classic rule detects."""
    sides = before, after = both_sides(given.intervals, AT)
    enough = np.ones(len(given.means), dtype=bool)
    for side in sides:
        enough &= side.enough(SETTINGS.min_samples, SETTINGS.min_calls)
    rows = enough & rise_matters(after.mean / before.mean, SETTINGS.threshold)
    found = search(
        given.means[rows],
        given.intervals.usable[rows],
        given.intervals.starts()[rows],
        given.intervals.ends,
        at=AT,
        tolerance=SETTINGS.tolerance,
    )
    significant = found.tests.upward & (found.tests.p_nominal <= SETTINGS.alpha)
    return int(np.count_nonzero(found.near & significant))


def calibrated(given: Input) -> int:
    """Number of queries that the calibrated engine would alert on."""
    found = assess(given.panel, at=AT, window=WINDOW, tolerance=SETTINGS.tolerance)
    return int(np.count_nonzero(q_values(found.p_value) <= SETTINGS.alpha))


def judged(engine: str) -> Callable[[Input], int]:
    """Number of queries detected by ``judge``, from counters to verdicts."""
    settings = replace(SETTINGS, engine=engine)
    deploy = Deploy("bench", AT)

    def all_of_it(given: Input) -> int:
        return judge([given.batch], deploy, settings).detected()

    return all_of_it


def listed(engine: str) -> Callable[[Input], int]:
    """The same with every verdict made an object, its causes looked for."""
    settings = replace(SETTINGS, engine=engine)
    deploy = Deploy("bench", AT)

    def all_of_it(given: Input) -> int:
        verdicts = judge([given.batch], deploy, settings)
        return sum(verdict.outcome is Outcome.DETECTED for verdict in verdicts)

    return all_of_it


ENGINES: Mapping[str, Callable[[Input], int]] = {
    "classic": classic,
    "calibrated": calibrated,
    "judge, classic": judged("classic"),
    "judge, calibrated": judged("calibrated"),
    "objects, calibrated": listed("calibrated"),
}


def _input(
    rng: np.random.Generator, n: int, *, cv: Floats, calls: Floats, factors: Floats
) -> Input:
    s, half = len(cv), n // 2
    sigma = np.sqrt(np.log1p(cv**2))
    means = 0.01 * np.exp(sigma * rng.standard_normal((s, n)) - sigma**2 / 2)
    means[:, half:] *= factors
    counted = np.maximum(rng.poisson(np.broadcast_to(calls, (s, n))), 1).astype(float)
    times = AT + WINDOW / half * np.arange(-half, n - half + 1.0)
    keys = tuple(
        QueryKey("db:9719", "shop", "app", f"{i:06}", "true") for i in range(s)
    )
    panel = Panel(
        starts=times[:-1],
        ends=times[1:],
        means=means,
        calls=counted,
        before=half,
        after=half,
        window=half,
    )
    seconds = counted * means
    batch = Batch(
        keys,
        times,
        {
            name: np.concatenate([np.zeros((s, 1)), added.cumsum(axis=1)], axis=1)
            for name, added in (("calls", counted), ("seconds", seconds))
        },
    )
    intervals = Intervals(
        times,
        np.broadcast_to(np.int32(1), (s, n)),
        np.ones((s, n), dtype=bool),
        np.full((s, n), USABLE, dtype=np.int8),
        counted,
        seconds,
        {},
    )
    return Input(means, intervals, panel, batch)
