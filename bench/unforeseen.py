"""Kinds of noise that came up after the method had been chosen, as in ``noise``.

Some know of a deploy: the last ``AFTER`` intervals come after it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from evaluator.model import Floats

from .noise import Kind, autoregression, from_normal, log_normal, steady_calls

AFTER = 30


def _own_steps(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """Each query gets 30 % slower or quicker by itself, once in 200 intervals."""
    steps = (rng.random((len(cv), t)) < 1.0 / 200.0) * rng.choice(
        [-1.0, 1.0], (len(cv), t)
    )
    own = log_normal(rng.standard_normal((len(cv), t)), cv)
    return own * 1.3 ** np.cumsum(steps, axis=1), steady_calls(rng, calls, t)


def _volatile(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """GARCH(1, 1): a large error makes the next ones larger."""
    shocks = np.empty((len(cv), t))
    variance = np.ones(len(cv))
    for here in range(t):
        shocks[:, here] = np.sqrt(variance) * rng.standard_normal(len(cv))
        variance = 0.02 + 0.28 * shocks[:, here] ** 2 + 0.70 * variance
    normal = np.clip(shocks, -6.0, 6.0)
    return log_normal(normal, cv), steady_calls(rng, calls, t)


def _start_up(share: float, decay: float, highest: float) -> Kind:
    """A *share* of the queries is slow at the deploy, by up to (1 + *highest*).

    Args:
        decay: intervals after which a third of that is left.
    """

    def kind(
        rng: Generator, cv: Floats, calls: Floats, t: int
    ) -> tuple[Floats, Floats]:
        age = np.arange(t) - (t - AFTER)
        decayed = np.where(age >= 0, np.exp(-np.maximum(age, 0) / decay), 0.0)
        slow = rng.uniform(highest / 5.0, highest, (len(cv), 1))
        slow *= rng.random((len(cv), 1)) < share
        own = log_normal(rng.standard_normal((len(cv), t)), cv)
        return own * (1.0 + slow * decayed), steady_calls(rng, calls, t)

    return kind


def _noisier(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """The spread doubles at the deploy, the mean stays."""
    wider = np.where(np.arange(t) >= t - AFTER, 2.0, 1.0)
    normal = rng.standard_normal((len(cv), t))
    return log_normal(normal, cv * wider), steady_calls(rng, calls, t)


def _two_groups(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """Each half of the queries has an irregular common factor of its own."""
    factors = 0.3 * autoregression(rng, 0.95, 2, t)
    group = (rng.random(len(cv)) < 0.5).astype(int)
    own = log_normal(rng.standard_normal((len(cv), t)), cv)
    return own * np.exp(factors[group]), steady_calls(rng, calls, t)


def _hourly(rng: Generator, cv: Floats, calls: Floats, t: int) -> tuple[Floats, Floats]:
    """A cycle with a period of an hour, each query at its own minute."""
    phase = rng.uniform(0.0, 2.0 * np.pi, (len(cv), 1))
    cycle = np.exp(0.3 * np.sin(2.0 * np.pi * np.arange(t) / 60.0 + phase))
    own = log_normal(rng.standard_normal((len(cv), t)), cv)
    return own * cycle, steady_calls(rng, calls, t)


def _dependent_of_late(rng: Generator, s: int, t: int) -> Floats:
    """Neighbours correlate by .85 in the last hour before the deploy and after it."""
    late = np.arange(t) >= t - AFTER - 60
    values: Floats = np.where(
        late, autoregression(rng, 0.85, s, t), rng.standard_normal((s, t))
    )
    return values


UNFORESEEN: Mapping[str, Kind] = {
    "volatility": _volatile,
    "start-up": _start_up(1.0, 1.2, 5.0),
    "start-up of some": _start_up(0.3, 1.2, 5.0),
    "noisier after": _noisier,
    "dependent of late": from_normal(_dependent_of_late),
}

# What no rule can tell from a deploy's effect, or this one cannot.
BROKEN: Mapping[str, Kind] = {
    "own steps": _own_steps,
    "two groups": _two_groups,
    "slow start-up": _start_up(0.3, 4.0, 2.0),
    "hourly cycle": _hourly,
}
