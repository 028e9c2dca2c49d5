"""What happens once, near the deploy or before it: restarts, backups, outages."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from evaluator.model import ContextSeries, Floats, Surroundings

from .frame import AT, BEFORE, MINUTE, WINDOW, Frame
from .scene import Course


def restart(rng: Generator, frame: Frame) -> Course:
    """The server restarts at the deploy; its cache is cold for about five minutes.

    Seven queries in ten are slower meanwhile, by up to three times the usual.
    """
    age, warm = frame.middles, rng.uniform(4.0, 6.0) * MINUTE
    cold = np.where(age > 0, np.clip((warm - age) / MINUTE, 0.0, 1.0), 0.0)
    slow = rng.uniform(0.3, 3.0, (frame.q, 1)) * (rng.random((frame.q, 1)) < 0.7)
    began = np.where(frame.times < 0, -20.0 * 86_400.0, 0.0)
    starts = ContextSeries("start", "db1", AT + frame.times, AT + began)
    return Course(time=1.0 + slow * cold, surroundings=Surroundings(starts=(starts,)))


def backup_near(rng: Generator, frame: Frame) -> Course:
    """A backup begins 8 to 15 minutes before or after the deploy, and stays."""
    begins = rng.choice([-1.0, 1.0]) * rng.uniform(8.0, 15.0) * MINUTE
    return _backup(rng, frame, begins)


def backup_through(rng: Generator, frame: Frame) -> Course:
    """A backup began 20 to 90 minutes before the deploy and runs through it."""
    return _backup(rng, frame, -rng.uniform(20.0, 90.0) * MINUTE)


def _backup(rng: Generator, frame: Frame, begins: float) -> Course:
    """Four queries in ten read from the disk, and get up to ×2.5 slower.

    The measure of the disk that Prometheus has shows it, too.
    """
    running = frame.covered(begins, np.inf)
    reads = running * np.exp(0.2 * frame.irregular(rng, 1, minutes=5.0))
    busy = np.clip(0.2 + 0.5 * reads[0] + rng.normal(0.0, 0.03, frame.t), 0.0, 1.0)
    disk = ContextSeries("disk busy", "", AT + frame.times[1:], busy)
    slow = rng.uniform(0.2, 1.5, (frame.q, 1)) * (rng.random((frame.q, 1)) < 0.4)
    return Course(time=1.0 + slow * reads, surroundings=Surroundings(context=(disk,)))


def outage(rng: Generator, frame: Frame) -> Course:
    """Nothing is scraped for 3 to 7 minutes around the deploy."""
    begins = -rng.uniform(0.0, 3.0) * MINUTE
    ends = begins + rng.uniform(3.0, 7.0) * MINUTE
    return Course(missing=(frame.times >= begins) & (frame.times < ends))


def missed_scrapes(rng: Generator, frame: Frame) -> Course:
    """One scrape in thirty fails, and one sample in a hundred is not stored."""
    return Course(
        missing=rng.random(frame.times.size) < 1.0 / 30.0,
        absent=rng.random((frame.q, frame.times.size)) < 0.01,
    )


def earlier_deploys(rng: Generator, frame: Frame) -> Course:
    """One to three earlier deploys; each lastingly shifted one query in ten."""
    return Course(time=np.exp(level_shifts(rng, frame, int(rng.integers(1, 4)))))


def level_shifts(rng: Generator, frame: Frame, number: int) -> Floats:
    """(q, t) logarithms of what earlier deploys did, up to half an hour ago."""
    level = np.zeros((frame.q, frame.t))
    for moment in rng.uniform(-BEFORE + WINDOW, -WINDOW, number):
        shift = rng.choice([-1.0, 1.0], frame.q) * rng.uniform(0.1, 0.5, frame.q)
        shift *= rng.random(frame.q) < 0.1
        level += shift[:, None] * frame.covered(moment, np.inf)
    return level


def late(rng: Generator, frame: Frame) -> Floats:
    """Each regression begins 1 to 4 minutes after the deploy."""
    return frame.covered(MINUTE * rng.uniform(1.0, 4.0, (frame.q, 1)), np.inf)


def gradual(_: Generator, frame: Frame) -> Floats:
    """Each regression grows evenly for eight minutes, as instances are replaced."""
    grown = np.clip(frame.middles / (8.0 * MINUTE), 0.0, 1.0)
    return np.broadcast_to(grown, (frame.q, frame.t))
