"""A rise that began before the deploy and goes through it without a break.

A mean that grows evenly for an hour is higher after the deploy than before, and the
best split of its window lies in the middle, at the deploy. So two kinds of shapes are
fitted to the logarithms from the baseline on, each by its level and height,

    g(t) = 0 until it begins, rises evenly, and stays at 1

those that begin within the tolerance of the deploy (steps, and regressions that grow)
and those that begin earlier. Where the best of the earlier fits better, the rise is not
the deploy's, unless a step at the deploy is needed on top of the slope; then the rise
is worth what the step adds to the fit,

    score² = gain of slope and step − gain of the best slope − 2 log (number of places)

with gains in units of the noise of a long mean: squares that a shape explains.

References:
    Perron 1989, The great crash, on steps beside trends; Bai & Perron 1998.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...model import Flags, Floats, Places
from ..stats.ar1 import LARGEST_PHI, inflation, lag_one
from ..stats.moments import TINY, robust_deviation, weighted_mean

# When slopes begin, in windows before the deploy, and how long shapes rise, in windows;
# what begins before the baseline is a straight line in all of it.
_BEGINS = (0.27, 0.33, 0.5, 0.67, 1.0, 1.5, 2.0, 3.0, 4.0)
_LENGTHS = (1 / 3, 2 / 3, 1.0, 2.0, 4.0, 8.0)
# A mean that grows evenly by 200 % grows ever slower as a logarithm: log(1 + 2 u) of
# the even shape u; below 0 ever faster.
_BENDS = (2.0, 8.0, -0.7)
# Places within the tolerance at which a growing regression begins.
_GROWING = 5
# Standard errors of a slope before the deploy that make it worth a closer look.
_SEEN = 1.0
# By how much a slope has to fit better: at 0 the quiet scene loses .06 of its power at
# +50 % to slopes that are luck of the noise.
_CLEARLY = 3.0
# A step on top of a slope below this score changes nothing about the slope's verdict.
LEAST_STEP = 2.0
# A shape that hardly varies where the query is explains nothing.
_LEAST_POWER = 1e-9
# The end of the time before the tolerance, in which it may rise at last, in windows;
# and its fewest intervals.
_LAST, _LEAST_LAST = 0.13, 3
# Outliers lie so many deviations from their neighbours.
_OUTLIER = 4.0
# Fewest intervals before the tolerance that can show a slope.
_LEAST = 5


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Which of c queries rose by a slope.

    Args:
        slope: (c,) whether a slope from before the deploy explains the rise.
        begins: (c,) interval in which it begins, 0 without one.
        step: (c,) score of the step on top of it; infinite without a slope.
    """

    slope: Flags
    begins: Places
    step: Floats


def find_slopes(
    values: Floats,
    weights: Floats,
    variance: Floats,
    *,
    deploy: int,
    window: int,
    close: tuple[int, int],
) -> Slopes:
    """Compare what begins before the deploy with what begins at it.

    Args:
        values, weights: (c, n) logarithms from the baseline on, weights over those of a
            typical interval, 0 where absent.
        variance: (c,) of one typical interval in a long mean.
        deploy: interval that begins after it; *window* intervals are a window.
        close: first and last interval that begin inside the tolerance.
    """
    c, n = values.shape
    slopes = Slopes(
        np.zeros(c, dtype=bool), np.zeros(c, dtype=np.intp), np.full(c, np.inf)
    )
    if close[0] < _LEAST:
        return slopes
    rows = np.flatnonzero(_rises_before(values, weights, variance, close[0], window))
    begins, earlier = _earlier_shapes(n, deploy, window, close[0])
    if not rows.size or not begins.size:
        return slopes
    smooth = _without_outliers(values[rows])
    fit = _Fit(smooth, weights[rows])
    steps = np.arange(n) >= np.arange(close[0], close[1] + 1)[:, None]
    own = np.concatenate([steps, _growing_shapes(n, window, close)])
    by_slope, by_own = fit.gains(earlier), fit.gains(own)
    best = by_slope.argmax(axis=1)
    ahead = by_slope.max(axis=1) - by_own.max(axis=1)
    wins = np.flatnonzero(ahead > 0)
    noise = fit.rows(wins).left(earlier[best[wins]], own[by_own.argmax(axis=1)[wins]])
    wins = wins[ahead[wins] > _CLEARLY * noise]
    if wins.size:
        added = fit.rows(wins).added_by_step(earlier, steps.astype(np.float64))
        added -= 2.0 * np.log(len(steps))
        there = rows[wins]
        slopes.slope[there] = True
        slopes.begins[there] = begins[best[wins]]
        slopes.step[there] = np.sqrt(np.maximum(added, 0.0))
    return slopes


def _rises_before(
    values: Floats, weights: Floats, variance: Floats, stop: int, window: int
) -> Flags:
    """(c,) whether it seems to rise before the tolerance, evenly or at last."""
    w, y = weights[:, :stop], values[:, :stop]
    last = slice(stop - min(max(round(_LAST * window), _LEAST_LAST), stop), None)
    of_last = np.maximum(w[:, last].sum(axis=1), TINY)
    late = weighted_mean(y[:, last], w[:, last]) - weighted_mean(y, w)
    x = np.arange(stop) - (stop - 1) / 2.0
    total = np.maximum(w.sum(axis=1), 1e-12)
    middle = w @ x / total
    power = np.maximum(w @ (x * x) - middle**2 * total, 1e-12)
    wy = w * y
    slope = (wy @ x - middle * wy.sum(axis=1)) / power
    rises: Flags = slope > _SEEN * np.sqrt(variance / power)
    rises |= late > _SEEN * np.sqrt(variance / of_last)
    return rises


def _without_outliers(values: Floats) -> Floats:
    """(c, n) values, each no further from its neighbours' middle than noise goes.

    The middle is the median of the medians of three times three neighbours.
    """
    threes = _middle_of_three(values, 1)
    near = _middle_of_three(threes, 3)
    away = values - near
    everywhere = np.ones(values.shape, dtype=bool)
    reach = _OUTLIER * robust_deviation(away, everywhere)
    clipped: Floats = near + np.clip(away, -reach, reach)
    return clipped


def _middle_of_three(values: Floats, apart: int) -> Floats:
    """(c, n) median of each value and those *apart* before and after it."""
    padded = np.pad(values, ((0, 0), (apart, apart)), mode="edge")
    before, after = padded[:, : -2 * apart], padded[:, 2 * apart :]
    low, high = np.minimum(before, after), np.maximum(before, after)
    middle: Floats = np.minimum(np.maximum(values, low), high)
    return middle


def _ramp(n: int, begin: float, length: float) -> Floats:
    """(n,) 0 until *begin*, then rising evenly for *length* intervals, then 1."""
    ramp: Floats = np.clip((np.arange(n) + 0.5 - begin) / length, 0.0, 1.0)
    return ramp


@lru_cache(maxsize=8)
def _earlier_shapes(
    n: int, deploy: int, window: int, first: int
) -> tuple[Places, Floats]:
    """Intervals in which slopes begin, and (k, n) shapes."""
    pairs = [
        (max(deploy - round(begin * window), 0), length * window)
        for begin in _BEGINS
        for length in _LENGTHS
    ]
    pairs = [pair for pair in dict.fromkeys(pairs) if pair[0] < first]
    begins = np.array([begin for begin, _ in pairs], dtype=np.intp)
    if not pairs:
        return begins, np.empty((0, n))
    even = np.stack([_ramp(n, *pair) for pair in pairs])
    bent = [np.log1p(bend * even) / np.log1p(bend) for bend in _BENDS]
    return np.tile(begins, 1 + len(bent)), np.concatenate([even, *bent])


@lru_cache(maxsize=8)
def _growing_shapes(n: int, window: int, close: tuple[int, int]) -> Floats:
    """(k, n) shapes that begin within the tolerance."""
    return np.stack(
        [
            _ramp(n, begin, length * window)
            for begin in np.linspace(*close, _GROWING)
            for length in _LENGTHS[:4]
        ]
    )


class _Fit:
    """Weighted least squares of c series on a level and shapes."""

    def __init__(self, values: Floats, weights: Floats) -> None:
        self._y, self._w = values, weights
        self._total = np.maximum(weights.sum(axis=1), 1e-12)
        level = np.einsum("ij,ij->i", weights, values) / self._total
        self._wy = weights * (values - level[:, None])

    def rows(self, chosen: Places) -> _Fit:
        return _Fit(self._y[chosen], self._w[chosen])

    def gains(self, shapes: Floats) -> Floats:
        """(c, k) what each shape explains, upward; 0 where it falls."""
        together, power = self._wy @ shapes.T, self._powers(shapes)
        gains: Floats = np.where(together > 0, together**2 / power, 0.0)
        return gains

    def added_by_step(self, slopes: Floats, steps: Floats) -> Floats:
        """(c,) squared score of the best step upwards on top of the best slope."""
        slope_power, with_slope = self._powers(slopes), self._wy @ slopes.T
        alone = np.where(with_slope > 0, with_slope**2 / slope_power, 0.0)
        means = self._w @ slopes.T / self._total[:, None]
        best, pair = alone.max(axis=1), np.zeros((2, len(self._y)), dtype=np.intp)
        for number, step in enumerate(steps):
            cross = self._w @ (slopes * step).T - means * (self._w @ step)[:, None]
            full = self._powers(step[None])
            power = full - cross**2 / slope_power
            height = (self._wy @ step)[:, None] - cross / slope_power * with_slope
            useful = (height > 0) & (power > _LEAST_POWER * full)
            both = alone + np.where(
                useful, height**2 / np.where(useful, power, 1.0), 0.0
            )
            better = both.max(axis=1) > best
            best = np.maximum(best, both.max(axis=1))
            pair[0, better] = both.argmax(axis=1)[better]
            pair[1, better] = number
        added: Floats = (best - alone.max(axis=1)) / self.left(
            slopes[pair[0]], steps[pair[1]]
        )
        return added

    def left(self, first: Floats, second: Floats) -> Floats:
        """(c,) variance of a long mean of what two (c, n) shapes leave together.

        As of a first-order autoregression; the noise of the history holds the slope.
        """
        roots = np.sqrt(self._w)
        design = np.stack([np.ones_like(first), first, second], axis=2)
        design *= roots[:, :, None]
        wanted = self._y * roots
        heights = np.linalg.pinv(design) @ wanted[:, :, None]
        left = wanted - (design @ heights)[:, :, 0]
        count = np.maximum(np.count_nonzero(self._w, axis=1), 8)
        phi = lag_one(left)
        phi += (3.0 + 5.0 * phi) / count
        phi = np.clip(phi, 0.0, LARGEST_PHI)
        single = np.einsum("ij,ij->i", left, left) / (count - 5)
        variance: Floats = np.maximum(single, TINY) * inflation(phi)
        return variance

    def _powers(self, shapes: Floats) -> Floats:
        """(c, k) weighted squares of each shape around its mean."""
        means = self._w @ shapes.T
        power: Floats = self._w @ (shapes**2).T - means**2 / self._total[:, None]
        return np.maximum(power, _LEAST_POWER)
