"""Queries that rose, and what surrounds them, each in one readable line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluator.engine.causes.kinds import OWN_RATIO, find_causes
from evaluator.engine.causes.measures import OwnMeasures, Slower
from evaluator.engine.causes.shifts import find_shifts
from evaluator.engine.prepare.intervals import USABLE, Intervals
from evaluator.model import (
    ChangePoint,
    ContextSeries,
    Effect,
    Outcome,
    Settings,
    Stage,
    Surroundings,
    Verdict,
    WelchTest,
    Window,
)
from evaluator.sinks.cause_sentences import cause_sentence
from tests.builders import DEPLOY_AT, KEY, deploy, key

SETTINGS = Settings()
MINUTES = np.arange(-30.0, 30.0)
SIDE = Window(samples=30, calls=1200, seconds=12, duration=1800)


def verdict(factor, queryid="-42", *, at=0.0, outcome=Outcome.DETECTED):
    """A query past the floors; with an effect where the factor reaches 1.2.

    Args:
        at: its change point, minutes after the deploy.
    """
    plain = Verdict(
        key=key(queryid),
        outcome=Outcome.NO_REGRESSION,
        stage=Stage.PREFILTER,
        usable=60,
        dropped={},
        before=SIDE,
        after=SIDE,
        factor=factor,
    )
    if factor < 1.2:
        return plain
    return replace(
        plain,
        outcome=outcome,
        stage=Stage.WELCH,
        change=ChangePoint(30, DEPLOY_AT + 60 * at, 1.0, 6),
        test=WelchTest(9.0, 50.0, 1e-9, upward=True),
        effect=Effect(0.1, 0.1 * factor, factor, 1.0),
    )


def intervals(*, calls=40.0, rows=None, blocks=None) -> Intervals:
    """60 minutes around the deploy; numbers are totals of each minute."""
    number = np.broadcast_to(np.asarray(calls, dtype=np.float64), MINUTES.shape)
    added = {"rows": rows, "blocks": blocks}
    return Intervals(
        times=DEPLOY_AT + 60 * np.append(MINUTES, MINUTES[-1] + 1),
        lags=np.broadcast_to(np.int32(1), (1, MINUTES.size)),
        usable=np.ones((1, MINUTES.size), dtype=bool),
        kinds=np.full((1, MINUTES.size), USABLE, dtype=np.int8),
        calls=number[None, :],
        seconds=0.1 * number[None, :],
        further={
            name: np.asarray(values)[None, :]
            for name, values in added.items()
            if values is not None
        },
    )


def step(before, after, *, at=0.0, cv=0.05, seed=1):
    """A level for each minute, with noise."""
    rng = np.random.default_rng(seed)
    return np.where(at > MINUTES, before, after) * rng.lognormal(0, cv, MINUTES.size)


def measure(values, name="cpu", instance="") -> ContextSeries:
    return ContextSeries(name, instance, DEPLOY_AT + 60 * MINUTES, values)


def starts(*values, instance=KEY.instance) -> ContextSeries:
    """Start times, minutes after the deploy, seen from minute to minute around it."""
    seen = np.arange(len(values), dtype=np.float64) - len(values) // 2
    started = np.array(values, dtype=np.float64)
    return ContextSeries(
        "server start", instance, DEPLOY_AT + 60 * seen, DEPLOY_AT + 60 * started
    )


def slower(suspect: Verdict, own: Intervals | None = None) -> Slower:
    """The query of a verdict, and what it was called for."""
    assert suspect.change is not None
    assert suspect.factor is not None
    elsewhere = suspect.outcome is Outcome.BACKGROUND_CHANGE
    moment = suspect.change.at if elsewhere else DEPLOY_AT
    measures = OwnMeasures(own or intervals())
    (changed,) = measures.changed([moment], SETTINGS.tolerance, OWN_RATIO)
    (ratio,) = measures.blocks_ratios(DEPLOY_AT)
    change_at = suspect.change.at
    return Slower(suspect.key, suspect.factor, change_at, moment, changed, ratio)


def causes(*others, own=None, of=None, rise=1.0, **surroundings):
    """What is found for one query that doubled, or for *of*."""
    suspect = of or verdict(2.0)
    factors: dict[str, list[float]] = {}
    for each in sorted([suspect, *others], key=lambda one: one.factor):
        factors.setdefault(each.key.instance, []).append(each.factor)
    found = find_causes(
        [slower(suspect, own)],
        deploy(),
        SETTINGS,
        Surroundings(**surroundings),
        find_shifts,
        factors=factors,
        common_rise={KEY.instance: rise},
    )
    return found.get(suspect.key, ())


def siblings(*factors):
    return [verdict(factor, str(number)) for number, factor in enumerate(factors)]


def sentence(cause):
    """How a person reads it."""
    return cause_sentence(cause, deploy())
