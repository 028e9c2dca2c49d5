"""Size and power of the test for call floods: ``python -m bench.call_floods``.

Families of 200 statements whose calls are counted among noise of several kinds. The
size is how often the whole rule is below 0.05 where nothing changed; power is how often
+100 % calls are found in one family of means and rates at a false discovery rate of
0.05, the means all unchanged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from evaluator.engine.effects.calls.assessment import assess_rates
from evaluator.engine.effects.calls.stretches import CallRates
from evaluator.engine.stats.multiple_testing import q_values
from evaluator.model import Flags, Floats, Places, Settings

from .noise import autoregression, log_normal
from .tables import circumstances, table

# Expected calls of (s, t) stretches, over the usual number of each statement.
Traffic: TypeAlias = Callable[[Generator, int, int], Floats]

STATEMENTS, WINDOW = 200, 30
RISE = 2.0
# Of the statements of a family that has floods, one in this many has one.
_EVERY = 20


def own_noise(cv: float, phi: float) -> Traffic:
    """Each statement varies by itself."""
    return lambda rng, s, t: log_normal(autoregression(rng, phi, s, t), cv)


_USUAL = own_noise(0.2, 0.3)


def daily(rng: Generator, s: int, t: int) -> Floats:
    """All follow the day, most in proportion, a fifth not at all."""
    day = 0.6 * np.sin(2 * np.pi * (np.arange(t) / 1440 + rng.uniform()))
    loading = np.where(rng.random((s, 1)) < 0.2, 0.0, rng.uniform(0.7, 1.2, (s, 1)))
    return _with(loading * day, rng)


def bursts(rng: Generator, s: int, t: int) -> Floats:
    """Traffic that swells and calms down within minutes, in common."""
    swell = 0.3 * autoregression(rng, 0.9, 1, t)
    return _with(rng.uniform(0.5, 1.3, (s, 1)) * swell, rng)


def surge(rng: Generator, s: int, t: int) -> Floats:
    """Traffic doubles at the deploy, for all."""
    after = np.log(2.0) * (np.arange(t) >= t - WINDOW)
    return _with(rng.uniform(0.8, 1.2, (s, 1)) * after, rng)


def _with(common: Floats, rng: Generator) -> Floats:
    """(s, t) logarithms of what statements have in common, with their own noise."""
    factors: Floats = np.exp(common) * _USUAL(rng, *common.shape)
    return factors


SCENES: Mapping[str, Traffic] = {
    "steady": own_noise(0.1, 0.0),
    "noise of 0.2, phi 0.3": own_noise(0.2, 0.3),
    "noise of 0.3, phi 0.5": own_noise(0.3, 0.5),
    "noise of 0.3, phi 0.7": own_noise(0.3, 0.7),
    "traffic of the day": daily,
    "traffic in bursts": bursts,
    "twice the traffic at the deploy": surge,
}
CALLS = {"5 to 500": (5.0, 500.0), "2 to 5": (2.0, 5.0)}
HISTORIES = {"4 h": 240, "none": WINDOW}


def family(
    traffic: Traffic, calls: tuple[float, float], before: int, rng: Generator
) -> CallRates:
    """Counted calls of one family, a stretch a minute."""
    t = before + WINDOW
    low, high = np.log(calls)
    usual = np.exp(rng.uniform(low, high, (STATEMENTS, 1)))
    expected = usual * traffic(rng, STATEMENTS, t)
    return _rates(rng.poisson(expected).astype(np.float64), before)


def flooded(rates: CallRates, rows: Places, rng: Generator) -> CallRates:
    """The same, with more calls of some statements since the deploy."""
    calls = np.rint(np.exp(rates.logs) * 60.0 - 0.5)
    more = rng.poisson((RISE - 1.0) * calls[np.ix_(rows, np.arange(calls.shape[1]))])
    calls[rows, rates.before :] += more[:, rates.before :]
    return _rates(calls, rates.before)


def _rates(calls: Floats, before: int) -> CallRates:
    t = calls.shape[1]
    return CallRates(
        starts=60.0 * np.arange(-before, t - before, dtype=np.float64),
        logs=np.log((calls + 0.5) / 60.0),
        present=np.ones(calls.shape, dtype=bool),
        before=before,
        window=WINDOW,
    )


def measure(
    traffic: Traffic,
    calls: tuple[float, float],
    before: int,
    *,
    families: int,
    seed: list[int],
) -> tuple[float, float, float]:
    """Share of p ≤ 0.05, false alarms per 1,000 statements, and power."""
    rng = np.random.default_rng(seed)
    everyone = np.ones(STATEMENTS, dtype=bool)
    tolerance, window = Settings().tolerance, Settings().window
    below, alarms, found, floods = 0, 0, 0, 0
    for _ in range(families):
        rates = family(traffic, calls, before, rng)
        p, _ = assess_rates(rates, everyone, everyone, tolerance, window)
        means = rng.uniform(size=STATEMENTS)
        below += int(np.count_nonzero(p <= 0.05))
        alarms += int(np.count_nonzero(_found(means, p)))
        rows = rng.choice(STATEMENTS, STATEMENTS // _EVERY, replace=False)
        often = flooded(rates, rows, rng)
        p, _ = assess_rates(often, everyone, everyone, tolerance, window)
        found += int(np.count_nonzero(_found(means, p)[rows]))
        floods += rows.size
    count = families * STATEMENTS
    return below / count, 1000 * alarms / count, found / floods


def _found(means: Floats, rates: Floats) -> Flags:
    q = q_values(np.concatenate([means, rates]))[means.size :]
    found: Flags = q <= Settings().alpha
    return found


def rows(families: int, offset: int = 0) -> Iterator[tuple[str, ...]]:
    for number, (scene, traffic) in enumerate(SCENES.items()):
        for label, calls in CALLS.items():
            for history, before in HISTORIES.items():
                size, alarms, power = measure(
                    traffic,
                    calls,
                    before,
                    families=families,
                    seed=[17 + offset, number, int(calls[0]), before],
                )
                yield (
                    *(scene, label, history),
                    *(f"{size:.3f}", f"{alarms:.2f}", f"{power:.2f}"),
                )


HEAD = (
    *("calls a minute vary", "calls a minute", "history"),
    *("p ≤ 0.05", "false alarms per 1,000", "+100 % found"),
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--families", type=int, default=100)
    options.add_argument("--seed-offset", type=int, default=0)
    arguments = options.parse_args()
    print(circumstances())
    print(table(HEAD, [*rows(arguments.families, arguments.seed_offset)]))


if __name__ == "__main__":
    main()
