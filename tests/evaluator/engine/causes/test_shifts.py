"""Change points of measures that are no queries."""

import numpy as np
import pytest

from bench.noise import autoregression
from evaluator.engine.causes.shifts import find_shifts

TIMES = np.arange(1000.0, 2800.0, 30.0)


def step(*levels: float, each: int = 30) -> np.ndarray:
    return np.repeat(np.array(levels, dtype=np.float64), each)


def test_a_step_is_found_where_it_is_with_its_levels():
    (shift,) = find_shifts([(TIMES, step(2, 5))])

    assert shift is not None
    assert shift.at == TIMES[30]
    assert (shift.before, shift.after) == (2, 5)
    assert shift.p_value == 0.0


def test_what_does_not_vary_or_is_too_short_has_no_shift():
    short = np.array([1.0, 1, 1, 9, 9])

    assert find_shifts([(TIMES, step(3, 3)), (TIMES[:5], short)]) == [None, None]


def test_measures_of_any_length_come_back_in_their_order():
    rng = np.random.default_rng(1)
    measures = [
        (TIMES[:n], step(1, factor, each=n // 2) * rng.lognormal(0, 0.05, n))
        for n, factor in ((40, 2), (60, 3), (40, 4))
    ]

    alone = [find_shifts([one])[0] for one in measures]

    assert find_shifts(measures) == alone
    assert [one.after / one.before for one in alone if one] == pytest.approx(
        [2, 3, 4], rel=0.1
    )


def test_a_real_step_in_noise_is_significant():
    rng = np.random.default_rng(2)

    (shift,) = find_shifts([(TIMES, step(1, 1.5) * rng.lognormal(0, 0.1, 60))])

    assert shift is not None
    assert abs(shift.at - TIMES[30]) <= 60
    assert shift.p_value < 1e-6


@pytest.mark.parametrize(("phi", "most"), [(0.0, 20), (0.5, 20), (0.7, 30)])
def test_a_smooth_measure_without_a_step_is_rarely_called_changed(phi, most):
    """1,000 measures; p ≤ 0.001, near the middle, ratio 1.2. Plain Welch: up to 130."""
    rng = np.random.default_rng(3)
    smooth = np.exp(0.47 * autoregression(rng, phi, 1000, 60))

    shifts = find_shifts([(TIMES, values) for values in smooth])

    called = [
        shift
        for shift in shifts
        if shift is not None
        and abs(shift.at - TIMES[30]) <= 180
        and abs(np.log(shift.after / shift.before)) >= np.log(1.2)
        and shift.p_value <= 0.001
    ]
    assert len(called) <= most
