"""Intervals → the two sides of the deploy, and whether they can be compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Flags, Floats, Places
from ..stats.moments import sum_in_order
from .intervals import Intervals


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Sums over the usable intervals on one side of the deploy, of s queries.

    Args:
        samples: (s,) number of intervals.
        calls, seconds: (s,) what they added.
        duration: (s,) from the first start to the last end, seconds; 0 without any.
    """

    samples: Places
    calls: Floats
    seconds: Floats
    duration: Floats

    @property
    def mean(self) -> Floats:
        """(s,) seconds per call over all calls, NaN without any."""
        with np.errstate(divide="ignore", invalid="ignore"):
            mean: Floats = self.seconds / self.calls
        return np.where(self.calls > 0, mean, np.nan)

    def enough(self, min_samples: int, min_calls: int) -> Flags:
        """(s,) whether the side holds as much as the floors ask for."""
        enough: Flags = (self.samples >= min_samples) & (self.calls >= min_calls)
        return enough


def both_sides(window: Intervals, at: float) -> tuple[Side, Side]:
    """Sum up what ended by *at*, Unix seconds, and what started from *at* on.

    An interval across *at* belongs to neither side, since its calls cannot be
    separated.
    """
    last = int(window.ends.searchsorted(at, side="right"))
    left, right = slice(0, last), slice(int(window.times[:-1].searchsorted(at)), None)
    usable = window.usable
    inside = usable[:, right]
    if window.lags.strides[1]:
        inside = inside & (window.starts(right) >= at)
    return _side(window, left, usable[:, left]), _side(window, right, inside)


def _side(window: Intervals, columns: slice, inside: Flags) -> Side:
    samples = np.count_nonzero(inside, axis=1)
    starts, ends = window.starts(columns), window.ends[columns]
    calls, seconds = window.calls[:, columns], window.seconds[:, columns]
    if not ends.size:
        nothing = np.zeros(len(inside))
        return Side(samples, nothing, nothing, nothing)
    if inside.all():
        duration = np.broadcast_to(ends[-1] - starts[:, 0], samples.shape)
        return Side(samples, sum_in_order(calls), sum_in_order(seconds), duration)
    rows = np.arange(len(inside))
    first = inside.argmax(axis=1)
    last = ends.size - 1 - inside[:, ::-1].argmax(axis=1)
    return Side(
        samples=samples,
        calls=sum_in_order(np.where(inside, calls, 0.0)),
        seconds=sum_in_order(np.where(inside, seconds, 0.0)),
        duration=np.where(samples > 0, ends[last] - starts[rows, first], 0.0),
    )


def rise_matters(factor: Floats, threshold: float) -> Flags:
    """(s,) pre-filter: whether the mean rose by *threshold*, a fraction such as 0.2.

    Args:
        factor: (s,) mean after / mean before; where unknown (NaN) it did not.
    """
    with np.errstate(invalid="ignore"):
        risen: Flags = factor - 1.0 >= threshold
    return risen
