"""Noise that queries share for as long as they run: groups, cycles, load."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from evaluator.model import Floats

from .frame import HOUR, MINUTE, WINDOW, Frame
from .scene import TABLES, Course, Happening


def groups(number: int, *, sd: float = 0.2) -> Happening:
    """Each query belongs to one group that has an irregular factor of its own."""

    def happens(rng: Generator, frame: Frame) -> Course:
        return Course(time=np.exp(group_paths(rng, frame, number, sd)))

    return happens


def group_paths(rng: Generator, frame: Frame, number: int, sd: float) -> Floats:
    """(q, t) logarithms: loading of the query × factor of its group."""
    member = rng.integers(0, number, frame.q)
    loading = rng.uniform(0.5, 1.5, (frame.q, 1))
    return loading * (sd * frame.irregular(rng, number))[member]


def cycle(rng: Generator, frame: Frame) -> Course:
    """An hourly cycle of ± 30 %, each query at its own phase."""
    return Course(time=np.exp(cycle_paths(rng, frame)))


def cycle_paths(rng: Generator, frame: Frame) -> Floats:
    """(q, t) logarithms."""
    phase = rng.uniform(0.0, 2.0 * np.pi, (frame.q, 1))
    paths: Floats = 0.3 * np.sin(2.0 * np.pi * frame.middles / HOUR + phase)
    return paths


def ramp(rng: Generator, frame: Frame) -> Course:
    """Traffic grows threefold within a window from around the deploy on.

    A query's time grows with a power of the traffic, 0 to one half.
    """
    begins = rng.uniform(-10.0, 5.0) * MINUTE
    grown = np.clip((frame.middles - begins) / WINDOW, 0.0, 1.0)
    traffic = (1.0 + 2.0 * grown) * np.exp(0.05 * frame.irregular(rng, 1))
    return Course(traffic=traffic, time=traffic ** rng.uniform(0.0, 0.5, (frame.q, 1)))


def daily(rng: Generator, frame: Frame) -> tuple[Floats, Floats]:
    """Traffic of a day (1, t), and the logarithm of what it does to times (q, t)."""
    day = 2.0 * np.pi * (frame.middles / (24.0 * HOUR) + rng.uniform())
    traffic = (1.0 + 0.6 * np.sin(day)) * np.exp(0.1 * frame.irregular(rng, 1))
    return traffic, rng.uniform(0.0, 0.4, (frame.q, 1)) * np.log(traffic)


def one_table(rng: Generator, frame: Frame) -> Course:
    """What regresses is two tables; each table has a factor of its own as noise."""
    tables = rng.permutation(np.arange(frame.q) % TABLES)
    paths = 0.15 * frame.irregular(rng, TABLES)[tables]
    return Course(time=np.exp(paths), tables=tables)


def two_plans(rng: Generator, frame: Frame) -> Course:
    """Each query changes to a plan 80 % slower and back, as a Markov chain."""
    return Course(time=np.where(slow_plan(rng, frame), 1.8, 1.0))


def slow_plan(rng: Generator, frame: Frame) -> Floats:
    """(q, t) whether the slow plan is in force: 25 minutes fast, then 10 slow."""
    minutes = frame.lengths / MINUTE
    chance = rng.random((frame.q, frame.t))
    slow = np.zeros((frame.q, frame.t), dtype=bool)
    slow[:, 0] = chance[:, 0] < 0.3
    for here in range(1, frame.t):
        stays = chance[:, here] > 0.1 * minutes[here]
        flips = chance[:, here] < 0.04 * minutes[here]
        slow[:, here] = np.where(slow[:, here - 1], stays, flips)
    return slow
