"""What a scene is: what happens to a server's queries besides their own noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from evaluator.model import Batch, Deploy, Flags, Floats, Places, Surroundings

from .frame import Frame

# Of the tables that a server has; queries of one table meet the same locks.
TABLES = 40


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """What happens besides each query's own noise; everything left out is as usual.

    Args:
        time: factor on the mean of each interval, (q, t) or what broadcasts to it.
        traffic: factor on the calls of each interval, the same.
        missing: (t + 1,) scrapes that failed.
        absent: (q, t + 1) single samples that were not stored.
        tables: (q,) number of the table of each query, where whole tables regress.
        surroundings: what else Prometheus would know, times in Unix seconds.
    """

    time: Floats | float = 1.0
    traffic: Floats | float = 1.0
    missing: Flags | None = None
    absent: Flags | None = None
    tables: Places | None = None
    surroundings: Surroundings = field(default_factory=Surroundings)


Happening: TypeAlias = Callable[[Generator, Frame], Course]
# Frame → (q, t) how much of a regression is there in each interval, 0 to 1.
Onset: TypeAlias = Callable[[Generator, Frame], Floats]


def at_once(_: Generator, frame: Frame) -> Floats:
    """From the deploy on."""
    return np.broadcast_to(frame.covered(0.0, np.inf), (frame.q, frame.t))


@dataclass(frozen=True, slots=True)
class Scene:
    """One kind of deploy, as an equation and as the function that draws it.

    Args:
        equation: what multiplies the time of a call, or another description.
        happens: draws it.
        step: from one scrape to the next, seconds.
        jitter: standard deviation of the time of a scrape, seconds.
        onset: how a regression begins.
        calls: least and most usual calls a minute; drawn log-uniformly.
        spread: least and most coefficient of variation of a single call, where the
            noise of a mean comes from its calls alone.
        regressed: share of the queries that get slower by half, and the same share
            that gets twice as slow.
        most: false alerts that are allowed in a deploy of 1,000, on average.
        least: power at +50 % that is asked for; None: none.
    """

    name: str
    equation: str
    happens: Happening = lambda _rng, _frame: Course()
    step: float = 60.0
    jitter: float = 0.0
    onset: Onset = at_once
    calls: tuple[float, float] = (10.0, 400.0)
    spread: tuple[float, float] | None = None
    regressed: float = 0.01
    most: float = 1.0
    least: float | None = 0.45


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One deploy of a scene: what the evaluator reads, and the truth.

    Args:
        factors: (q,) by how much each query's time is multiplied, 1 for unchanged.
    """

    batch: Batch
    deploy: Deploy
    surroundings: Surroundings
    factors: Floats
