"""When what happens to the recorded server: the rate of calls, and jobs beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MINUTE, HOUR = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class Segment:
    """So many transactions a second from *start* on, for so many seconds."""

    start: float
    seconds: float
    rate: float


@dataclass(frozen=True, slots=True)
class Job:
    """Something that begins *start* seconds after the recording does."""

    start: float
    name: str


def segments(seconds: float, rate: float, seed: int) -> Sequence[Segment]:
    """Traffic as of a day that takes two hours, irregular, and threefold once an hour.

    Args:
        rate: transactions a second on average.
    """
    rng = np.random.default_rng([2, seed])
    made, start, level = [], 0.0, 0.0
    while start < seconds:
        length = rng.uniform(1.5, 4.0) * MINUTE
        level = 0.7 * level + 0.15 * rng.standard_normal()
        day = 1.0 + 0.5 * np.sin(2.0 * np.pi * start / (2.0 * HOUR))
        # The eight minutes from the 40th on.
        rush = 3.0 if 40 * MINUTE <= start % HOUR < 48 * MINUTE else 1.0
        made.append(Segment(start, length, rate * day * rush * float(np.exp(level))))
        start += length
    return made


# Of each job: from one to the next on average, and when the first begins, minutes.
_JOBS = {
    "report": (10.0, 4.0),
    "vacuum": (22.0, 13.0),
    "lock": (17.0, 9.0),
    "backup": (60.0, 33.0),
    "dump": (75.0, 57.0),
    "bulk load": (35.0, 21.0),
}


def jobs(seconds: float, seed: int) -> Sequence[Job]:
    """Reports, vacuum, locks, backups, dumps and bulk loads, ascending by start."""
    rng = np.random.default_rng([3, seed])
    made = []
    for name, (every, first) in _JOBS.items():
        start = first * MINUTE
        while start < seconds:
            made.append(Job(start, name))
            start += every * MINUTE * rng.uniform(0.8, 1.2)
    return sorted(made, key=lambda job: job.start)
