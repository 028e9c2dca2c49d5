"""Events that slow queries for some minutes: locks, vacuum, checkpoints, jobs."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from evaluator.model import Floats

from .frame import BEFORE, HOUR, MINUTE, WINDOW, Frame
from .scene import TABLES, Course


def stalls(rng: Generator, frame: Frame) -> Course:
    """A table is locked for 1 to 4 minutes, once in two hours on average."""
    return Course(time=1.0 + at_tables(rng, frame, (1.0, 4.0), (1.0, 6.0)))


def vacuum(rng: Generator, frame: Frame) -> Course:
    """A table is vacuumed for 1 to 8 minutes, once in two hours on average."""
    return Course(time=1.0 + at_tables(rng, frame, (1.0, 8.0), (0.1, 0.4)))


def at_tables(
    rng: Generator,
    frame: Frame,
    minutes: tuple[float, float],
    slower: tuple[float, float],
    *,
    every: float = 2 * HOUR,
) -> Floats:
    """(q, t) by how much the events at each query's own table slow it.

    Args:
        minutes: least and most length of an event.
        slower: least and most of what it adds, in the usual time of a query.
        every: from one event at a table to the next, on average, seconds.
    """
    table = rng.integers(0, TABLES, frame.q)
    added = np.zeros((TABLES, frame.t))
    for place in range(TABLES):
        for _ in range(rng.poisson((BEFORE + WINDOW) / every)):
            begins = rng.uniform(-BEFORE, WINDOW)
            ends = begins + MINUTE * rng.uniform(*minutes)
            added[place] += rng.uniform(*slower) * frame.covered(begins, ends)
    return rng.uniform(0.5, 1.0, (frame.q, 1)) * added[table]


def checkpoints(rng: Generator, frame: Frame) -> Course:
    """Every five minutes 45 s of writing, up to 80 % slower, and then full pages."""
    return Course(time=1.0 + checkpointed(rng, frame))


def checkpointed(rng: Generator, frame: Frame) -> Floats:
    """(q, t) what checkpoints add to the usual time."""
    every, first = 5.0 * MINUTE, rng.uniform(0.0, 5.0) * MINUTE
    writing = np.zeros(frame.t)
    for begins in np.arange(first - BEFORE - every, WINDOW, every):
        writing += rng.uniform(0.5, 1.5) * frame.covered(begins, begins + 45.0)
    age = (frame.middles - first) % every
    full_pages = 0.2 * np.exp(-age / MINUTE)
    added: Floats = rng.uniform(0.0, 0.8, (frame.q, 1)) * (writing + full_pages)
    return added


def cron(rng: Generator, frame: Frame) -> Course:
    """Jobs at the full 10, 15, 30 and 60 minutes: more calls of some, all slower."""
    traffic, added = jobs(rng, frame)
    return Course(traffic=traffic, time=1.0 + added)


def jobs(rng: Generator, frame: Frame) -> tuple[Floats, Floats]:
    """(q, t) factor on calls, and what the jobs add to the usual time.

    Each job calls one query in thirty six times as often while it runs.
    """
    traffic, added = np.ones((frame.q, frame.t)), np.zeros((frame.q, frame.t))
    for minutes in (10.0, 15.0, 30.0, 60.0):
        every, length = minutes * MINUTE, rng.uniform(0.5, 2.5) * MINUTE
        # The deploy comes at any minute of the hour.
        first = rng.uniform(0.0, every)
        running = np.zeros(frame.t)
        for begins in np.arange(first - BEFORE - every, WINDOW, every):
            running += frame.covered(begins, begins + length * rng.uniform(0.7, 1.3))
        own = rng.random((frame.q, 1)) < 1.0 / 30.0
        traffic += 5.0 * own * running
        added += rng.uniform(0.0, 0.4, (frame.q, 1)) * running
    return traffic, added
