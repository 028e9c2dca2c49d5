"""A scene and a seed → the counters of one deploy, and which queries regressed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from evaluator.model import Batch, Deploy, Floats, QueryKey

from ..noise import autoregression, log_normal
from .frame import AT, MINUTE, Frame, frame
from .scene import Course, Example, Scene

# Half of the regressions are slower by half, the others twice as slow.
REGRESSIONS = (1.5, 2.0)
_PHI, _CV = (0.0, 0.6), (0.1, 0.6)


def make(scene: Scene, seed: Sequence[int], *, queries: int = 1000) -> Example:
    """Draw one deploy; the same seed gives the same counters."""
    rng = np.random.default_rng(seed)
    place = frame(rng, queries, step=scene.step, jitter=scene.jitter)
    course = scene.happens(rng, place)
    factors = _regressions(rng, scene, course, queries)
    rate = _log_uniform(rng, scene.calls, queries) / MINUTE
    expected = np.broadcast_to(
        rate * place.lengths * course.traffic, (queries, place.t)
    )
    calls = rng.poisson(expected).astype(float)
    usual = np.exp(rng.normal(np.log(0.005), 1.5, (queries, 1)))
    means = usual * _own_noise(rng, place, scene, calls) * course.time
    means *= 1.0 + (factors[:, None] - 1.0) * scene.onset(rng, place)
    return Example(
        batch=_batch(rng, place, course, calls, calls * means),
        deploy=Deploy(id="scene", at=AT),
        surroundings=course.surroundings,
        factors=factors,
    )


def _regressions(rng: Generator, scene: Scene, course: Course, queries: int) -> Floats:
    """(q,) factors: single queries, or as many of whole tables."""
    each = round(scene.regressed * queries)
    if scene.regressed:
        each = max(1, each)
    order = rng.permutation(queries)
    if course.tables is not None:
        order = np.argsort(course.tables, kind="stable")
    factors = np.ones(queries)
    for number, factor in enumerate(REGRESSIONS):
        factors[order[number * each : (number + 1) * each]] = factor
    return factors


def _own_noise(rng: Generator, place: Frame, scene: Scene, calls: Floats) -> Floats:
    """(q, t) around 1: log-normal autoregressions, or means of single calls.

    The coefficient of variation is that of a minute's mean, whatever the interval.
    """
    q = place.q
    if scene.spread is not None:
        cv = rng.uniform(*scene.spread, (q, 1)) / np.sqrt(np.maximum(calls, 1.0))
        return log_normal(rng.standard_normal((q, place.t)), cv)
    phi = rng.uniform(*_PHI, q) ** (scene.step / MINUTE)
    cv = _log_uniform(rng, _CV, q) * _of_a_minute(phi, round(MINUTE / scene.step))
    return log_normal(autoregression(rng, phi, q, place.t), cv)


def _log_uniform(rng: Generator, ends: tuple[float, float], q: int) -> Floats:
    """(q, 1) values."""
    low, high = ends
    return np.exp(rng.uniform(np.log(low), np.log(high), (q, 1)))


def _of_a_minute(phi: Floats, k: int) -> Floats:
    """(q, 1) standard deviation of one of k intervals over that of their mean."""
    lags = np.arange(1, k)
    together = 1.0 + 2.0 * ((1.0 - lags / k) * phi[:, None] ** lags).sum(axis=1)
    wider: Floats = np.sqrt(k / together)[:, None]
    return wider


def _batch(
    rng: Generator, place: Frame, course: Course, calls: Floats, seconds: Floats
) -> Batch:
    """Counters that had counted for days; missing scrapes left out."""
    days = rng.uniform(100.0, 1000.0, (place.q, 1))
    columns = {}
    for name, added in (("calls", calls), ("seconds", seconds)):
        start = np.round(days * added.mean(axis=1, keepdims=True))
        counter = np.concatenate([start, start + np.cumsum(added, axis=1)], axis=1)
        if course.absent is not None:
            counter[course.absent] = np.nan
        columns[name] = counter
    times = AT + np.round(place.times, 3)
    if course.missing is not None:
        kept = ~course.missing
        times = times[kept]
        columns = {name: one[:, kept] for name, one in columns.items()}
    keys = tuple(
        QueryKey("db1", "shop", "app", f"{10**15 + query}", "true")
        for query in range(place.q)
    )
    return Batch(keys, times, columns)
