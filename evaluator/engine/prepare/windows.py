"""Interval means → the two sides of the deploy, if both hold enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model import Comparison, Floats, Insufficient, IntervalMeans, Window


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The fields of the Window of s queries, as (s,) arrays."""

    samples: NDArray[np.intp]
    calls: Floats
    seconds: Floats
    duration: Floats

    def windows(self) -> list[Window]:
        """The s windows."""
        columns = (self.samples, self.calls, self.seconds, self.duration)
        return [*map(Window, *(column.tolist() for column in columns))]


def compare(
    queries: Sequence[IntervalMeans], *, at: float, min_samples: int, min_calls: int
) -> list[Comparison | Insufficient]:
    """Sum up what ended by *at* and what started from *at* on.

    An interval across *at* belongs to neither side, since its calls cannot be told
    apart.

    Args:
        queries: usable intervals of s queries inside both windows.
        at: time of the deploy, Unix seconds.
        min_samples: fewest intervals each side needs.
        min_calls: fewest calls each side needs.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for index, query in enumerate(queries):
        groups[query.means.size].append(index)
    found: dict[int, Comparison | Insufficient] = {}
    for indices in groups.values():
        starts, ends, calls, seconds = (
            np.concatenate([getattr(queries[i], name) for i in indices]).reshape(
                len(indices), -1
            )
            for name in ("starts", "ends", "calls", "seconds")
        )
        sides = both_sides(starts, ends, calls, seconds, at=at)
        for index, before, after in zip(
            indices, *(side.windows() for side in sides), strict=True
        ):
            found[index] = _comparison(before, after, min_samples, min_calls)
    return [found[index] for index in range(len(queries))]


def both_sides(
    starts: Floats, ends: Floats, calls: Floats, seconds: Floats, *, at: float
) -> tuple[Side, Side]:
    """Sum up both sides of s queries that have m intervals each; arrays are (s, m)."""
    return (
        _side(starts, ends, calls, seconds, ends <= at),
        _side(starts, ends, calls, seconds, starts >= at),
    )


def _side(
    starts: Floats,
    ends: Floats,
    calls: Floats,
    seconds: Floats,
    inside: NDArray[np.bool_],
) -> Side:
    samples = inside.sum(axis=1)
    latest = np.where(inside, ends, -np.inf).max(axis=1, initial=-np.inf)
    earliest = np.where(inside, starts, np.inf).min(axis=1, initial=np.inf)
    return Side(
        samples=samples,
        calls=(calls * inside).sum(axis=1),
        seconds=(seconds * inside).sum(axis=1),
        duration=np.where(samples > 0, latest - earliest, 0.0),
    )


def _comparison(
    before: Window, after: Window, min_samples: int, min_calls: int
) -> Comparison | Insufficient:
    mean_before, mean_after = before.mean, after.mean
    enough = (
        min(before.samples, after.samples) >= min_samples
        and min(before.calls, after.calls) >= min_calls
    )
    if enough and mean_before and mean_after is not None:
        return Comparison(before, after, factor=mean_after / mean_before)
    missing = [
        f"{count:g} of {floor} {what} {side} the deploy"
        for side, window in (("before", before), ("after", after))
        for what, count, floor in (
            ("intervals", window.samples, min_samples),
            ("calls", window.calls, min_calls),
        )
        if count < floor
    ]
    reason = ", ".join(missing) or "no execution time recorded before the deploy"
    return Insufficient(before, after, reason)
