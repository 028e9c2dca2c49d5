"""Where single calls spread widely, an interval tells less."""

from __future__ import annotations

import numpy as np
import pytest

from bench.spread import shares
from evaluator.engine.noise.call_dispersion import equivalent_calls

SHAPE = (2, 60)
CALLS, MEANS = np.full(SHAPE, 101.0), np.full(SHAPE, 0.01)
ALL = np.ones(SHAPE, dtype=bool)


def dispersion_of(cv):
    """Of 101 calls with mean 0.01 and *cv*, a number or one for each interval."""
    return np.broadcast_to(100.0 * (0.01 * np.asarray(cv)) ** 2, SHAPE).copy()


def test_calls_that_always_spread_alike_count_as_they_are():
    found = equivalent_calls(MEANS, CALLS, dispersion_of(0.7), ALL)

    assert found == pytest.approx(CALLS)


def test_calls_that_spread_three_times_as_widely_tell_a_ninth():
    wide = np.where(np.arange(60) < 30, 0.3, 0.9)
    found = equivalent_calls(MEANS, CALLS, dispersion_of(wide), ALL)

    assert found[0, 10] / found[0, 50] == pytest.approx(9.0)


def test_a_rise_of_all_times_by_a_factor_is_not_a_wider_spread():
    factor = np.where(np.arange(60) < 30, 1.0, 1.5)
    found = equivalent_calls(factor * MEANS, CALLS, factor**2 * dispersion_of(0.7), ALL)

    assert found[0, 10] == pytest.approx(found[0, 50])


def test_an_interval_is_not_weighed_by_its_own_outlier():
    dispersion = dispersion_of(0.5)
    dispersion[:, 20] *= 400.0
    found = equivalent_calls(MEANS, CALLS, dispersion, ALL)

    assert found[0, 20] == pytest.approx(found[0, 40])
    assert found[0, 19] < found[0, 20]


def test_no_spread_is_so_small_that_an_interval_outweighs_all_others():
    narrow = np.where(np.arange(60) < 30, 1e-6, 1.0)
    found = equivalent_calls(MEANS, CALLS, dispersion_of(narrow), ALL)

    assert found[0, 10] / found[0, 50] <= 200.0


def test_a_query_whose_spread_is_unknown_keeps_its_calls_and_gaps_take_the_usual():
    dispersion = dispersion_of(np.where(np.arange(60) < 30, 0.3, 0.9))
    dispersion[0] = np.nan
    dispersion[1, 30:] = np.nan
    found = equivalent_calls(MEANS, CALLS, dispersion, ALL)

    assert np.all(found[0] == CALLS[0])
    assert found[1, 50] == CALLS[1, 50]


def test_absent_intervals_are_not_asked():
    present = ALL.copy()
    present[:, ::2] = False
    spoilt = np.where(present, dispersion_of(0.5), 1e9)
    found = equivalent_calls(MEANS, np.where(present, CALLS, 0.0), spoilt, present)

    assert found[present] == pytest.approx(CALLS[present])


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["CV 0.5 and 5, 20 min each", "CV 3"])
def test_a_quiet_query_is_a_finding_no_more_often_with_the_spread_known(kind):
    """1,500 series: at 5 % at most 6.9 % with probability 0.9995."""
    _, known = shares(kind, draws=1500, seed=[1])

    assert known.at_05 < 0.069
    assert known.at_001 <= 0.005


@pytest.mark.statistical
def test_what_is_hidden_by_wide_calls_now_and_then_is_found_more_often():
    """Of the same 600 series 54 to 64 % are found; the gain is paired."""
    unknown, known = shares(
        "CV 0.5 and 5, 20 min each", draws=600, seed=[2], factor=1.3
    )

    assert known.at_001 >= unknown.at_001 + 0.04
    assert known.at_05 >= unknown.at_05 - 0.01


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["CV 3", "CV 0.5 and 5, at random"])
def test_a_spread_that_tells_nothing_new_costs_nothing(kind):
    unknown, known = shares(kind, draws=450, seed=[3], factor=1.3)

    assert known.at_001 >= unknown.at_001 - 0.01
    assert known.at_05 >= unknown.at_05 - 0.01
