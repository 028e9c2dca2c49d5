"""Every method is a detector, and judges a query alike alone and in a crowd."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.engine import DETECTORS
from evaluator.model import METHODS, Settings
from tests.builders import counters, deploy, noise
from tests.queries import judged


def test_each_method_has_its_detector_and_the_default_comes_first():
    assert {name: one.method for name, one in DETECTORS.items()} == METHODS
    assert next(iter(METHODS)) == Settings().engine


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_the_last_look_is_at_the_whole_window(method):
    assert list(method.looks) == sorted(method.looks)
    assert method.looks[-1] == 1.0


def test_the_classic_method_judges_a_query_alone_bit_for_bit_as_in_a_crowd():
    """With missed scrapes, resets and idle intervals."""
    rng = np.random.default_rng(8)
    series = []
    for number in range(40):
        means = 0.01 * noise(rng, cv=0.4)
        means[30:] *= 1.0 + 0.4 * (number % 3)
        one = counters(
            means, rng.integers(0, 40, 60).astype(float), queryid=f"{number:02}"
        )
        missed = rng.random(61) < 0.05 * (number % 4)
        calls = np.where(missed, np.nan, one.calls)
        if number % 5 == 0:
            calls[40:] -= calls[40] - 1.0
        series.append(replace(one, calls=calls))

    together = judged(series, deploy(), Settings(engine="classic"))

    alone = [judged([one], deploy(), Settings(engine="classic"))[0] for one in series]
    # That the others got slower, too, is a cause, and theirs to show.
    assert [replace(verdict, causes=()) for verdict in together] == alone
    assert {verdict.outcome for verdict in together} >= {"detected", "no_regression"}
