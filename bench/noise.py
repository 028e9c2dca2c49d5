"""Kinds of noise, seeded: what the statistics are measured on.

Every kind is a function (rng, cv (s, 1), calls (s, 1), t) → (factors, calls): by how
much each interval's mean differs from the query's own, around 1, and how many calls it
averages; both (s, t). The named six are the benchmark of many queries, the others a
look at what else may come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluator.engine.stats.ar1 import simulate
from evaluator.model import Floats

Kind: TypeAlias = Callable[[Generator, Floats, Floats, int], tuple[Floats, Floats]]

DAY = 1440  # intervals of one minute


def autoregression(rng: Generator, phi: Floats | float, s: int, t: int) -> Floats:
    """(s, t) standard normal values with lag-one correlation *phi*, one or (s,)."""
    # The first hundred are left out; every table was made with these numbers.
    return simulate(rng, phi, s, t + 100)[:, 100:]


def moving_average(rng: Generator, length: int, s: int, t: int) -> Floats:
    """(s, t) standard normal values, each the mean of the last *length* shocks."""
    shocks = rng.standard_normal((s, t + length)) / np.sqrt(length)
    means = np.zeros((s, t))
    for lag in range(1, length + 1):
        means += shocks[:, lag : lag + t]
    return means


def log_normal(normal: Floats, cv: Floats | float) -> Floats:
    """Values around 1 with coefficient of variation *cv* from standard normal ones."""
    sigma = np.sqrt(np.log1p(np.asarray(cv) ** 2))
    values: Floats = np.exp(sigma * normal - sigma**2 / 2.0)
    return values


def steady_calls(rng: Generator, calls: Floats, t: int) -> Floats:
    """(s, t) Poisson numbers of calls around *calls* (s, 1), at least 1."""
    shape = len(calls), t
    return np.maximum(rng.poisson(np.broadcast_to(calls, shape)), 1).astype(float)


def from_normal(make: Callable[[Generator, int, int], Floats]) -> Kind:
    def kind(
        rng: Generator, cv: Floats, calls: Floats, t: int
    ) -> tuple[Floats, Floats]:
        counted = steady_calls(rng, calls, t)
        return log_normal(make(rng, len(cv), t), cv), counted

    return kind


def _mixed(phis: tuple[float, ...]) -> Callable[[Generator, int, int], Floats]:
    return lambda rng, s, t: autoregression(rng, rng.choice(phis, s), s, t)


def _daily_cycle(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """Traffic follows the day, and times follow the traffic, each query its own way."""
    cycle = 1.0 + 0.6 * np.sin(2 * np.pi * (np.arange(t) / DAY + rng.uniform()))
    counted = np.maximum(rng.poisson(calls * cycle), 1).astype(float)
    loading = rng.uniform(0.3, 0.8, (len(cv), 1))
    return log_normal(rng.standard_normal((len(cv), t)), cv) * cycle**loading, counted


def _daily_traffic(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """Traffic follows a day; the fewer calls, the noisier their mean."""
    hour = rng.uniform(size=(len(cv), 1))
    cycle = 1.0 + 0.8 * np.sin(2 * np.pi * (np.arange(t) / DAY + hour))
    counted = np.maximum(rng.poisson(calls * cycle), 1).astype(float)
    normal = rng.standard_normal((len(cv), t))
    return log_normal(normal, cv * np.sqrt(calls / counted)), counted


def _tenfold(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """Traffic between a third and three times the usual, each interval anew."""
    shape = len(cv), t
    drawn = rng.poisson(calls * 10 ** rng.uniform(-0.5, 0.5, shape))
    counted = np.maximum(drawn, 1).astype(float)
    normal = rng.standard_normal(shape)
    return log_normal(normal, cv * np.sqrt(calls / counted)), counted


def _per_call(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """Each call log-normal with CV 3, traffic tenfold; *cv* is not used."""
    counted = rng.poisson(calls * 10 ** rng.uniform(-0.5, 0.5, (len(cv), t)))
    counted = np.maximum(counted, 1)
    means, _ = single_calls(rng, np.full(counted.shape, 3.0), counted)
    return means, counted.astype(float)


def single_calls(
    rng: Generator, cv: Floats, calls: NDArray[np.integer]
) -> tuple[Floats, Floats]:
    """Simulate every call, log-normal around 1 with *cv* (s, t) in each interval.

    Returns:
        (s, t) means, and squared distances from them, summed; NaN for a lone call.
    """
    means, dispersion = np.empty(calls.shape), np.empty(calls.shape)
    sigmas = np.sqrt(np.log1p(cv**2))
    for row, numbers in enumerate(calls):
        sigma = np.repeat(sigmas[row], numbers)
        times = np.exp(sigma * rng.standard_normal(sigma.size) - sigma**2 / 2.0)
        first = np.concatenate([[0], np.cumsum(numbers)[:-1]])
        means[row] = np.add.reduceat(times, first) / numbers
        away = times - np.repeat(means[row], numbers)
        dispersion[row] = np.add.reduceat(away * away, first)
    return means, np.where(calls > 1, dispersion, np.nan)


def _student(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """Student-t(3), not below a twentieth of the mean."""
    normal = rng.standard_t(3, (len(cv), t)) / np.sqrt(3.0)
    return np.maximum(1.0 + cv * normal, 0.05), steady_calls(rng, calls, t)


def _pareto(rng: Generator, cv: Floats, calls: Floats, t: int) -> tuple[Floats, Floats]:
    tail = rng.pareto(2.2, (len(cv), t))
    return 1.0 + tail * cv / 0.7, steady_calls(rng, calls, t)


def _common(rng: Generator, cv: Floats, calls: Floats, t: int) -> tuple[Floats, Floats]:
    """An irregular common factor of all queries, each with its own loading."""
    factor = autoregression(rng, 0.95, 1, t)
    loading = 0.25 * rng.uniform(0.3, 1.7, (len(cv), 1))
    own = log_normal(rng.standard_normal((len(cv), t)), cv)
    return own * np.exp(loading * factor), steady_calls(rng, calls, t)


def _drift(rng: Generator, cv: Floats, calls: Floats, t: int) -> tuple[Floats, Floats]:
    walk = np.cumsum(rng.normal(0.0, 0.01, (len(cv), t)), axis=1)
    own = log_normal(rng.standard_normal((len(cv), t)), cv)
    return own * np.exp(walk), steady_calls(rng, calls, t)


def _spikes(rng: Generator, cv: Floats, calls: Floats, t: int) -> tuple[Floats, Floats]:
    """Every fifth interval two and a half times as slow."""
    phase = rng.integers(0, 5, (len(cv), 1))
    spiked = (np.arange(t) + phase) % 5 == 0
    own = log_normal(rng.standard_normal((len(cv), t)), cv)
    return own * (1.0 + 1.5 * spiked), steady_calls(rng, calls, t)


def _two_plans(
    rng: Generator, cv: Floats, calls: Floats, t: int
) -> tuple[Floats, Floats]:
    """The plan flips to one 80 % slower and back, as a Markov chain."""
    slow = np.zeros((len(cv), t), dtype=bool)
    slow[:, 0] = rng.random(len(cv)) < 0.3
    chance = rng.random((len(cv), t))
    for here in range(1, t):
        stays, flips = chance[:, here] > 0.1, chance[:, here] < 0.04
        slow[:, here] = np.where(slow[:, here - 1], stays, flips)
    own = log_normal(rng.standard_normal((len(cv), t)), 0.6 * cv)
    return own * np.where(slow, 1.8, 1.0), steady_calls(rng, calls, t)


def _bursts(rng: Generator, cv: Floats, calls: Floats, t: int) -> tuple[Floats, Floats]:
    """The noise itself swells and calms down."""
    swell = np.exp(0.7 * autoregression(rng, 0.95, len(cv), t) - 0.25)
    normal = rng.standard_normal((len(cv), t))
    return log_normal(normal, cv * swell), steady_calls(rng, calls, t)


def _long_memory(rng: Generator, s: int, t: int) -> Floats:
    parts = ((1.0, 0.0), (1.0, 0.5), (0.7, 0.9), (0.5, 0.98))
    mixed = np.zeros((s, t))
    for share, phi in parts:
        mixed += share * autoregression(rng, phi, s, t)
    power: float = sum(share**2 for share, _ in parts)
    values: Floats = mixed / np.sqrt(power)
    return values


INDEPENDENT: Kind = from_normal(lambda rng, s, t: rng.standard_normal((s, t)))

NAMED: Mapping[str, Kind] = {
    "independent": INDEPENDENT,
    "mixed phi": from_normal(_mixed((0.0, 0.3, 0.5))),
    "moving average": from_normal(lambda rng, s, t: moving_average(rng, 6, s, t)),
    "daily cycle": _daily_cycle,
    "tenfold traffic": _tenfold,
    "heavy tails": _student,
}
UNNAMED: Mapping[str, Kind] = {
    "phi up to 0.7": from_normal(_mixed((0.0, 0.3, 0.5, 0.7))),
    "long moving average": from_normal(lambda rng, s, t: moving_average(rng, 10, s, t)),
    "daily traffic": _daily_traffic,
    "calls of CV 3": _per_call,
    "Pareto tails": _pareto,
    "common factor": _common,
    "drift": _drift,
    "spikes": _spikes,
    "two plans": _two_plans,
    "bursts": _bursts,
    "long memory": from_normal(_long_memory),
}


def fixed_phi(phi: float) -> Kind:
    """Log-normal autoregression with one phi."""
    return from_normal(lambda rng, s, t: autoregression(rng, phi, s, t))
