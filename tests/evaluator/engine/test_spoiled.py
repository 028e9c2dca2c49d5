"""One query with values that cannot be does not spoil what is said of the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.model import Floats, Settings
from tests.builders import counters, deploy, judged, noise

SPOILED = {
    "not a number": lambda seconds: np.full(seconds.shape, np.nan),
    "now and then not a number": lambda seconds: np.where(
        np.arange(seconds.size) % 17 == 0, np.nan, seconds
    ),
    "infinite after the deploy": lambda seconds: np.where(
        np.arange(seconds.size) > 50, np.inf, seconds
    ),
    "near the smallest number": lambda seconds: seconds * 1e-320,
    "near the largest number": lambda seconds: seconds * 1e304,
    "no time at all": lambda seconds: np.zeros(seconds.shape),
}


@pytest.mark.parametrize("engine", ["calibrated", "classic"])
@pytest.mark.parametrize("name", SPOILED)
def test_it_stays_alone_and_claims_nothing(name, engine):
    rng = np.random.default_rng(21)
    step: Floats = np.where(np.arange(60) < 30, 1.0, 1.5)
    others = [
        counters(0.01 * noise(rng, 60, 0.1) * step, queryid=f"b{number:02}")
        for number in range(25)
    ]
    spoiled = counters(0.01 * noise(rng, 60, 0.1), queryid="a")
    spoiled = replace(spoiled, seconds=SPOILED[name](spoiled.seconds))

    first, *rest = judged([spoiled, *others], deploy(), Settings(engine=engine))

    assert first.outcome in ("no_regression", "insufficient_data")
    assert [one.outcome for one in rest] == ["detected"] * 25
