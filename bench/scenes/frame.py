"""The scrape intervals of one deploy, and how much of each an event covers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from evaluator.model import Floats

from ..noise import autoregression

# Of the deploy, Unix seconds; a whole hour.
AT = 1_790_002_800.0
MINUTE, HOUR = 60.0, 3600.0
WINDOW = 1800.0
# Four hours and one window come before the deploy, one window after it.
BEFORE = 4 * HOUR + WINDOW


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Of q queries at t + 1 scrapes.

    Args:
        times: (t + 1,) of the scrapes, seconds after the deploy, ascending.
        q: number of queries.
    """

    times: Floats
    q: int

    @property
    def t(self) -> int:
        return self.times.size - 1

    @property
    def lengths(self) -> Floats:
        """(t,) seconds of each interval."""
        lengths: Floats = np.diff(self.times)
        return lengths

    @property
    def middles(self) -> Floats:
        """(t,) middle of each interval, seconds after the deploy."""
        middles: Floats = (self.times[1:] + self.times[:-1]) / 2.0
        return middles

    def covered(self, start: Floats | float, end: Floats | float) -> Floats:
        """(t,) or (…, t) part of each interval that lies between two moments.

        Args:
            start, end: seconds after the deploy, numbers or (…, 1).
        """
        inside = np.minimum(self.times[1:], end) - np.maximum(self.times[:-1], start)
        covered: Floats = np.clip(inside / self.lengths, 0.0, 1.0)
        return covered

    def irregular(self, rng: Generator, s: int, *, minutes: float = 20.0) -> Floats:
        """(s, t) standard normal paths that forget two thirds in so many minutes."""
        step = float(np.median(self.lengths)) / MINUTE
        return autoregression(rng, float(np.exp(-step / minutes)), s, self.t)


def frame(rng: Generator, q: int, *, step: float, jitter: float = 0.0) -> Frame:
    """Scrapes every *step* seconds; the deploy comes anywhere between two of them.

    Args:
        jitter: standard deviation of the time of a scrape, seconds; at most a tenth of
            the step, so that the order stays.
    """
    first = -BEFORE - step * rng.uniform()
    times = np.arange(first, WINDOW + step, step)
    return Frame(
        times + np.clip(rng.normal(0.0, jitter, times.size), -3 * jitter, 3 * jitter), q
    )
