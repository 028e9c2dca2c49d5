"""Our engines on arrays of interval means, and such arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from evaluator.engine.detectors.classic import search
from evaluator.engine.judge import judge
from evaluator.engine.noise.model import calibrate
from evaluator.engine.prepare.windows import both_sides
from evaluator.engine.stats.multiple_testing import q_values
from evaluator.model import (
    CounterSeries,
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
        means, calls, seconds: (s, n) of the intervals.
        starts, ends: (s, n) Unix seconds.
        panel: the same for the calibrated engine.
        series: the same as counters.
    """

    means: Floats
    calls: Floats
    seconds: Floats
    starts: Floats
    ends: Floats
    panel: Panel
    series: tuple[CounterSeries, ...]


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
    sides = both_sides(given.starts, given.ends, given.calls, given.seconds, at=AT)
    before, after = sides
    enough = np.ones(len(given.means), dtype=bool)
    for side in sides:
        enough &= side.samples >= SETTINGS.min_samples
        enough &= side.calls >= SETTINGS.min_calls
    factor = (after.seconds / after.calls) / (before.seconds / before.calls)
    rows = np.flatnonzero(enough & (factor - 1.0 >= SETTINGS.threshold))
    found = search(
        given.means[rows], given.starts[rows], at=AT, tolerance=SETTINGS.tolerance
    )
    significant = found.tests.upward & (found.tests.p_nominal <= SETTINGS.alpha)
    return int(np.count_nonzero(found.near & significant))


def calibrated(given: Input) -> int:
    """Number of queries that the calibrated engine would alert on."""
    found = calibrate(given.panel, at=AT, window=WINDOW, tolerance=SETTINGS.tolerance)
    return int(np.count_nonzero(q_values(found.p_value) <= SETTINGS.alpha))


def judged(engine: str) -> Callable[[Input], int]:
    """Number of queries detected by ``judge``, from counters to verdicts."""
    settings = replace(SETTINGS, engine=engine)
    deploy = Deploy("bench", AT)

    def all_of_it(given: Input) -> int:
        verdicts = judge(given.series, deploy, settings)
        return sum(verdict.outcome is Outcome.DETECTED for verdict in verdicts)

    return all_of_it


ENGINES: Mapping[str, Callable[[Input], int]] = {
    "classic": classic,
    "calibrated": calibrated,
    "judge, classic": judged("classic"),
    "judge, calibrated": judged("calibrated"),
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
    starts, ends = (np.tile(part, (s, 1)) for part in (times[:-1], times[1:]))
    panel = Panel(
        keys=keys,
        starts=times[:-1],
        ends=times[1:],
        means=means,
        calls=counted,
        before=half,
        after=half,
        window=half,
    )
    seconds = counted * means
    series = tuple(
        CounterSeries(
            key=key,
            times=times,
            calls=np.concatenate([[0.0], np.cumsum(counted[row])]),
            seconds=np.concatenate([[0.0], np.cumsum(seconds[row])]),
        )
        for row, key in enumerate(keys)
    )
    return Input(means, counted, seconds, starts, ends, panel, series)
