"""Simulated deploys: queries with a given noise, some of which get slower."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engine import judge
from ..engine.stats.ar1 import simulate
from ..model import METHODS, Batch, Deploy, Floats, Outcome, QueryKey, Settings
from ..model.sample_size import Noise

# A window is long enough when the rise is found in four of five deploys.
POWER = 0.8
# Queries of one simulated deploy, and how many of them get slower. A method that judges
# each query alone does not need the others.
_FAMILY, _REGRESSED = 400, 4
_ALONE = 25
# Regressed queries that are simulated: at most, and at least.
_TRIALS, _LEAST_TRIALS = 100, 12
# Windows of history in front of a simulated deploy, at most.
_HISTORY = 8
_AT = 1_500_000_000.0


def simulated_power(
    noise: Noise,
    rise: float,
    intervals: int,
    settings: Settings,
    rng: np.random.Generator,
) -> float:
    """Share of regressed queries that the engine finds, one in a hundred of a deploy.

    Stops as soon as the share is clearly not four of five.

    Args:
        rise: fraction, 0.2 for +20 %.
        intervals: on each side of the deploy.
    """
    spacing = float(max(1, round(noise.spacing)))
    settings = replace(settings, window=intervals * spacing)
    queries, regressed, history = _ALONE, _ALONE, intervals
    if METHODS[settings.engine].corrects_for_queries:
        queries, regressed = _FAMILY, _REGRESSED
        longest = min(int(settings.history / spacing), _HISTORY * intervals)
        history = max(intervals, longest)
    deploy = Deploy("simulated", _AT)
    detected = tried = 0
    while tried < _TRIALS:
        means = _means(noise, (queries, history + intervals), rng)
        means[:regressed, history:] *= 1.0 + rise
        verdicts = judge([_batch(means, noise, history, spacing)], deploy, settings)
        # The slower ones are the first, in the order of the keys, too.
        detected += sum(
            verdict.outcome is Outcome.DETECTED for verdict in verdicts[:regressed]
        )
        tried += regressed
        sure = 3.0 * np.sqrt(POWER * (1.0 - POWER) / tried)
        if tried >= _LEAST_TRIALS and abs(detected / tried - POWER) > sure:
            break
    return detected / tried


def calls_of(noise: Noise) -> float:
    """Executions in each simulated interval."""
    return max(1.0, round(noise.calls))


def _means(noise: Noise, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Log-normal autoregressive noise around 1, (s, t)."""
    log_sd = np.sqrt(np.log1p(noise.cv**2))
    logs = log_sd * simulate(rng, noise.phi, *shape)
    means: Floats = np.exp(logs - log_sd**2 / 2.0)
    return means


def _batch(means: Floats, noise: Noise, history: int, spacing: float) -> Batch:
    """The counters of *means*, the deploy after *history* intervals."""
    s, t = means.shape
    calls = np.arange(t + 1.0) * calls_of(noise)
    seconds = np.zeros((s, t + 1))
    np.cumsum(means * calls_of(noise), axis=1, out=seconds[:, 1:])
    return Batch(
        tuple(QueryKey("", "", "", f"{row:03d}", "") for row in range(s)),
        _AT + spacing * np.arange(-history, t - history + 1.0),
        {"calls": np.tile(calls, (s, 1)), "seconds": seconds},
    )
