"""What belongs before and after the deploy, and how much of it is enough."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from evaluator.engine.prepare.prepared import prepare
from evaluator.model import Settings, Window
from tests.builders import DEPLOY_AT, counters, deploy, scrapes
from tests.queries import batches, judged


@dataclass(frozen=True)
class Compared:
    """Both sides of one query, and what follows from them."""

    before: Window
    after: Window
    factor: float
    risen: bool
    reason: str


def _compare(series, *, at=DEPLOY_AT, min_samples=10, min_calls=100):
    settings = Settings(
        window=1e6, min_samples=min_samples, min_calls=min_calls, engine="classic"
    )
    found = prepare(series.batch(), at, at + 1e6, settings, history=0.0)
    before, after = (
        Window(
            int(side.samples[0]),
            float(side.calls[0]),
            float(side.seconds[0]),
            float(side.duration[0]),
        )
        for side in (found.before, found.after)
    )
    reason = ""
    if not found.rows.size:
        (verdict,) = judged([series], deploy(at), settings)
        reason = verdict.reason
    risen = bool(found.risen.size and found.risen[0])
    return Compared(before, after, float(found.factor[0]), risen, reason)


def test_an_interval_across_the_deploy_is_on_neither_side():
    series = scrapes((0, 0, 0), (10, 10, 1), (20, 20, 2), (30, 30, 3))

    result = _compare(series, at=15.0, min_samples=1, min_calls=1)

    assert (result.before.samples, result.after.samples) == (1, 1)


def test_intervals_that_touch_the_deploy_are_on_their_side():
    series = scrapes((0, 0, 0), (10, 10, 1), (20, 30, 4))

    result = _compare(series, at=10.0, min_samples=1, min_calls=1)

    assert (result.before.calls, result.after.calls) == (10, 20)


def test_the_means_are_weighted_by_calls():
    series = scrapes((0, 0, 0), (10, 1, 1.0), (20, 100, 1.99), (30, 200, 3.99))

    result = _compare(series, at=20.0, min_samples=1, min_calls=1)

    assert not result.reason
    assert result.before.mean == pytest.approx(1.99 / 100)
    assert result.factor == pytest.approx(0.02 / 0.0199)


def test_what_is_missing_is_named_with_its_floor():
    result = _compare(counters(np.full(18, 0.01), calls=5))

    assert math.isnan(result.factor)
    assert result.reason == (
        "9 of 10 intervals before the deploy, 45 of 100 calls before the deploy, "
        "9 of 10 intervals after the deploy, 45 of 100 calls after the deploy"
    )


def test_exactly_the_floors_is_enough():
    assert not _compare(counters(np.full(20, 0.01), calls=10)).reason


def test_no_time_before_the_deploy_cannot_be_divided_by():
    result = _compare(counters([0.0] * 15 + [0.01] * 15))

    assert math.isnan(result.factor)
    assert "no execution time" in result.reason


@pytest.mark.parametrize(("rise", "answer"), [(1.19, False), (1.25, True)])
def test_only_a_rise_of_the_threshold_matters(rise, answer):
    result = _compare(counters([0.01] * 15 + [0.01 * rise] * 15))

    assert not result.reason
    assert result.risen is answer


def test_together_and_one_by_one_are_the_same_sums():
    rng = np.random.default_rng(4)
    settings = Settings(window=1e6)
    many = [
        counters(
            rng.lognormal(-5, 0.5, n),
            rng.integers(1, 99, n).astype(float),
            queryid=f"{number:03}",
        )
        for number, n in enumerate(rng.integers(2, 90, 200))
    ]
    (together,) = batches(many)
    end = DEPLOY_AT + 1e6

    found = prepare(together, DEPLOY_AT, end, settings, history=0.0)

    for row, one in enumerate(many):
        alone = prepare(one.batch(), DEPLOY_AT, end, settings, history=0.0)
        for side in ("before", "after"):
            for name in ("samples", "calls", "seconds", "duration"):
                crowd = getattr(getattr(found, side), name)[row]
                assert crowd == pytest.approx(
                    getattr(getattr(alone, side), name)[0], rel=1e-12
                )


def test_a_side_without_intervals_is_empty():
    result = _compare(counters(np.full(8, 0.01)), at=DEPLOY_AT + 9000)

    assert (result.after.samples, result.after.calls, result.after.duration) == (
        0,
        0,
        0,
    )
    assert result.after.mean is None
