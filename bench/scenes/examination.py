"""A deploy of a scene through the final look, and through all looks as ``run`` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.model import Deploy, Report, Settings
from evaluator.service.evaluate import examine, examine_at_every_look
from evaluator.sources.readings import Reading
from evaluator.sources.surroundings import Found

from .scene import Example

SETTINGS = Settings()


@dataclass(frozen=True, slots=True)
class Tally:
    """Of one deploy.

    Args:
        alarms: unchanged queries detected.
        alerts: those of them without an external cause, so that somebody is paged.
        at_half, at_double: share detected of the queries that got slower by half, and
            of those twice as slow.
        found: regressions detected; ``muted`` those of them with an external cause.
    """

    alarms: int
    alerts: int
    at_half: float
    at_double: float
    found: int
    muted: int


def at_the_end(example: Example, settings: Settings = SETTINGS) -> Tally:
    """Judged once, when the window has passed, as ``deploy`` does."""
    return _tally(example, _judged(examine, example, settings))


def at_every_look(example: Example, settings: Settings = SETTINGS) -> Tally:
    """Judged at each look of the method; earlier detections stand, as in ``run``."""
    return _tally(example, _judged(examine_at_every_look, example, settings))


def _judged(
    judge: Callable[..., Report], example: Example, settings: Settings
) -> Report:
    def read(_: Deploy, start: float, end: float) -> Reading:
        return Reading((example.batch.between(start, end),))

    return judge(
        example.deploy,
        read,
        settings,
        lambda: example.deploy.at,
        around=lambda *_: Found(example.surroundings),
    )


def _tally(example: Example, report: Report) -> Tally:
    truth = dict(zip(example.batch.keys, example.factors.tolist(), strict=True))
    found = [(truth[one.key], one.external_cause) for one in report.detected]
    return Tally(
        alarms=sum(factor == 1.0 for factor, _ in found),
        alerts=sum(factor == 1.0 and not muted for factor, muted in found),
        at_half=_share(example, [factor for factor, _ in found], 1.5),
        at_double=_share(example, [factor for factor, _ in found], 2.0),
        found=sum(factor > 1.0 for factor, _ in found),
        muted=sum(factor > 1.0 and muted for factor, muted in found),
    )


def _share(example: Example, detected: Sequence[float], factor: float) -> float:
    """Of the queries that got slower by *factor*, how many were detected."""
    return detected.count(factor) / int(np.count_nonzero(example.factors == factor))
