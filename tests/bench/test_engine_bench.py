"""The measurement of the engines runs in small and prints its tables."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bench.speed import engine
from bench.speed.engines import ENGINES, mix, worst


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_finds_every_query_of_the_worst_case(name):
    assert ENGINES[name](worst(30, 60)) == 30


def test_the_counters_hold_the_same_intervals_as_the_arrays():
    given = mix(20, 60)

    batch = given.batch
    means = np.diff(batch.seconds) / np.diff(batch.calls)
    assert means == pytest.approx(given.means)


def test_arrays_and_the_whole_of_judge_detect_the_same_number():
    given = mix(300, 60)

    assert ENGINES["classic"](given) == ENGINES["judge, classic"](given)
    assert 0 < ENGINES["classic"](given) < 300


@pytest.mark.servers
def test_it_prints_everybody_beside_otava(capsys):
    """Marked for its peers, which are fetched the first time."""
    engine.main(["--series", "6", "--most", "10", "--rounds", "1"])

    printed = capsys.readouterr().out
    for name in (*ENGINES, *engine.PEERS):
        assert f"| worst case | 60 | {name} |" in printed
        assert f"| mix | 240 | {name} |" in printed
    assert re.search(r"\| judge, calibrated \|.*\| ≥ \d+ \|", printed)
    assert "| 10 | 60 |" in printed
