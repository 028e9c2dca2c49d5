"""Welch's t-test of the two segments that a split leaves."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from ..model import Floats, WelchTest

# Interval means are quotients of differences of counters; a spread this small against
# the mean is their rounding, not the query's.
_ROUNDING = 1e-12


def welch_test(left: Floats, right: Floats) -> WelchTest:
    """Compare two means without assuming equal variances; every value counts the same.

    The p-value comes from the incomplete beta function, which keeps its relative
    precision where one minus a distribution function would round to 0.

    Args:
        left, right: (n,) and (m,) seconds per call, n and m at least 2.

    Returns:
        The two-sided p-value, valid for a split that was fixed beforehand; without any
        variance it is 0 when the means differ and 1 when they do not.

    Raises:
        ValueError: a segment has fewer than two values.

    References:
        Welch 1947; degrees of freedom by Satterthwaite 1946.
    """
    if min(left.size, right.size) < 2:
        raise ValueError("a variance needs at least two values in each segment")
    rise = float(right.mean() - left.mean())
    error_left = _squared_error(left)
    error_right = _squared_error(right)
    error = error_left + error_right
    if error == 0.0:
        return WelchTest(
            t=None, nu=None, p_nominal=0.0 if rise else 1.0, upward=rise > 0
        )
    t = rise / float(np.sqrt(error))
    nu = error**2 / (
        error_left**2 / (left.size - 1) + error_right**2 / (right.size - 1)
    )
    p = float(betainc(nu / 2.0, 0.5, nu / (nu + t * t)))
    return WelchTest(t=t, nu=nu, p_nominal=p, upward=rise > 0)


def _squared_error(values: Floats) -> float:
    """Squared standard error of the mean; rounding alone makes none."""
    if np.ptp(values) <= _ROUNDING * abs(float(values.mean())):
        return 0.0
    return float(values.var(ddof=1)) / values.size
