"""What it is worth to know how widely single calls spread.

Every call is simulated. The exporter's ``seconds_squared`` tells how far the calls of
an interval lie from their mean; the same series are judged with that and without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from evaluator.model import Floats

from .noise import single_calls
from .trials import Trial, alone

# (rng, calls (s, t)) → coefficient of variation of a single call, (s, t).
Spread: TypeAlias = Callable[[Generator, Floats], Floats]

BEFORE, WINDOW = 240, 30
_NARROW, _WIDE = 0.5, 5.0


def _switching(stay: float) -> Spread:
    """Calls of like times and of very different ones by turns; the mean is the same."""

    def spread(rng: Generator, calls: Floats) -> Floats:
        wide = np.empty(calls.shape, dtype=bool)
        wide[:, 0] = rng.random(len(calls)) < 0.5
        stays = rng.random(calls.shape) < stay
        for here in range(1, calls.shape[1]):
            wide[:, here] = wide[:, here - 1] == stays[:, here]
        return np.where(wide, _WIDE, _NARROW)

    return spread


def _always(cv: float) -> Spread:
    return lambda _rng, calls: np.full(calls.shape, cv)


# The spread, and whether traffic varies tenfold from interval to interval.
KINDS: Mapping[str, tuple[Spread, bool]] = {
    "CV 0.5": (_always(0.5), True),
    "CV 3": (_always(3.0), True),
    "CV 0.5 and 5, 20 min each": (_switching(0.95), False),
    "CV 0.5 and 5, 60 min each": (_switching(1.0 - 1.0 / 60.0), False),
    "CV 0.5 and 5, at random": (_switching(0.5), False),
}


@dataclass(frozen=True, slots=True)
class Shares:
    """Of the series judged, those with a p-value of at most .05 and .001."""

    at_05: float
    at_001: float


def shares(
    kind: str, *, draws: int, seed: Sequence[int], factor: float = 1.0
) -> tuple[Shares, Shares]:
    """Without and with the spread known; size when *factor* is 1, else power."""
    spread, tenfold = KINDS[kind]
    rng = np.random.default_rng(seed)
    usual = np.exp(rng.uniform(np.log(10.0), np.log(400.0), (draws, 1)))
    swing = 10 ** rng.uniform(-0.5, 0.5, (draws, BEFORE + WINDOW)) if tenfold else 1.0
    shape = draws, BEFORE + WINDOW
    calls = np.maximum(rng.poisson(np.broadcast_to(usual * swing, shape)), 1)
    means, dispersion = single_calls(rng, spread(rng, calls), calls)
    trial = Trial(means, calls.astype(float), BEFORE, WINDOW, dispersion)
    trial = trial.slower(np.full(draws, factor))
    unknown, known = (
        _shares(alone(one)) for one in (replace(trial, dispersion=None), trial)
    )
    return unknown, known


def _shares(p: Floats) -> Shares:
    return Shares(float(np.mean(p <= 0.05)), float(np.mean(p <= 0.001)))
