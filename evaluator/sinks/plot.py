"""Interval means over time, in characters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model import Floats, QueryIntervals
from ..units import show_duration

_HEIGHT = 10
_LABEL = 9
_NARROWEST, _WIDEST = 40, 120
# A point more than this many times above both levels is drawn at the upper edge.
_REACH = 4.0


def plot(
    intervals: QueryIntervals,
    *,
    at: float,
    window: float,
    levels: tuple[float | None, float | None],
    change: float | None,
    width: int,
) -> list[str]:
    """Draw the interval means of both windows.

    The lower edge is 0, so that twice as slow is twice as high. A point is the mean of
    the intervals in its column, weighted by calls; a column without a point has none.

    Args:
        at: time of the deploy, Unix seconds; drawn as a vertical line.
        window: length of each side, seconds.
        levels: mean before and after, seconds per call; None if unknown.
        change: time of the change point, Unix seconds, marked below the axis.
        width: columns of the terminal; from 40 to 120 of them are used.
    """
    columns = min(max(width, _NARROWEST), _WIDEST) - _LABEL - 2
    means = _column_means(intervals, at - window, 2.0 * window / columns, columns)
    top = _top(means, levels)
    if not top > 0:
        return ["(no usable interval to draw)"]
    canvas = np.full((_HEIGHT, columns), " ")
    middle = columns // 2
    sides = slice(0, middle), slice(middle, columns)
    for side, level in zip(sides, levels, strict=True):
        if level is not None:
            canvas[_row(level, top), side] = "─"
    canvas[:, middle] = "│"
    for column in np.flatnonzero(np.isfinite(means)):
        point = "▲" if means[column] > top else "•"
        canvas[_row(means[column], top), column] = point
    labels = [""] * _HEIGHT
    labels[0], labels[_HEIGHT // 2] = show_duration(top), show_duration(top / 2)
    lines = [
        f"{label:>{_LABEL}} │{''.join(row)}"
        for label, row in zip(labels, canvas, strict=True)
    ]
    foot = _foot(at, window, change, columns)
    return [line.rstrip() for line in [*lines, *foot]]


def _column_means(
    intervals: QueryIntervals, start: float, width: float, columns: int
) -> Floats:
    """(columns,) mean of the intervals whose middle lies in each; NaN if there is none.

    Args:
        width: of a column, seconds.
    """
    middles = (intervals.starts + intervals.ends) / 2.0
    places = np.floor((middles - start) / width)
    inside = (places >= 0) & (places < columns)
    column = places[inside].astype(np.intp)
    seconds = np.bincount(column, intervals.seconds[inside], columns)
    calls = np.bincount(column, intervals.calls[inside], columns)
    known = calls > 0
    return np.where(known, seconds / np.where(known, calls, 1.0), np.nan)


def _top(means: Floats, levels: tuple[float | None, float | None]) -> float:
    """The upper edge: the largest point, unless it is far above both levels."""
    known = means[np.isfinite(means)]
    highest = float(known.max()) if known.size else 0.0
    level = max((level for level in levels if level is not None), default=highest)
    return min(highest, _REACH * level) if level > 0 else highest


def _row(value: float, top: float) -> int:
    return min(_HEIGHT - 1, max(0, int(_HEIGHT * (1.0 - value / top))))


def _foot(
    at: float, window: float, change: float | None, columns: int
) -> Iterator[str]:
    """The axis, the times below it, and where the change is."""
    yield f"{'0':>{_LABEL}} └{'─' * columns}"
    span = show_duration(window)
    middle, word = columns // 2, "deploy"
    left = f"{'-' + span:<{middle - len(word) // 2}}{word}"
    yield f"{'':{_LABEL}}  {left}{'+' + span:>{columns - len(left)}}"
    if change is not None:
        place = int((change - at + window) / (2.0 * window) * columns)
        place = min(max(place, 0), columns - 1)
        to_right, to_left = "^ change", "change ^"
        fits = place + len(to_right) <= columns
        mark = " " * place + to_right if fits else f"{to_left:>{place + 1}}"
        yield f"{'':{_LABEL}}  {mark}"
