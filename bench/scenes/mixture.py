"""A day in production: a little of everything at once, as one scene."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from evaluator.model import Floats

from .around_deploy import level_shifts
from .events import at_tables, checkpointed, jobs
from .frame import Frame
from .scene import Course
from .shared import cycle_paths, daily, group_paths, slow_plan


def day(rng: Generator, frame: Frame) -> Course:
    """Daily traffic, five groups, locks, vacuum, checkpoints, jobs, two plans, deploys.

    Each concerns some of the queries; two in five have nothing but their own noise and
    what the traffic does.
    """
    traffic, load = daily(rng, frame)
    called, added = jobs(rng, frame)
    paths = load + 0.5 * level_shifts(rng, frame, 1)
    paths += _some(rng, frame, 0.4) * group_paths(rng, frame, 5, 0.2)
    paths += _some(rng, frame, 0.1) * cycle_paths(rng, frame)
    paths += _some(rng, frame, 0.03) * np.log(1.8) * slow_plan(rng, frame)
    added = 0.5 * added + _some(rng, frame, 0.2) * 0.5 * checkpointed(rng, frame)
    added += _some(rng, frame, 0.2) * at_tables(rng, frame, (1.0, 3.0), (0.5, 3.0))
    added += _some(rng, frame, 0.2) * at_tables(rng, frame, (1.0, 8.0), (0.1, 0.4))
    return Course(time=np.exp(paths) * (1.0 + added), traffic=traffic * called)


def _some(rng: Generator, frame: Frame, share: float) -> Floats:
    """(q, 1) 1 for that share of the queries, else 0."""
    return (rng.random((frame.q, 1)) < share).astype(float)
