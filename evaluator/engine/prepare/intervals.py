"""Counters → what happened between scrapes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from ...model import CounterSeries, Floats, IntervalMeans

# Scrapes are stored to the millisecond; a sum of floats such as at + window need not
# hit the very number.
_HALF = 0.0005
_OPTIONAL = ("since", "rows", "blocks", "squares")

# A sum of squares loses to rounding what many larger ones before it had, relative to
# the counters at the end of the interval; what is left must be a hundred times as much.
_ROUNDING = 100 * 4 * float(np.finfo(np.float64).eps)


def interval_means(
    series: Sequence[CounterSeries], start: float, end: float, *, max_gap: float
) -> list[IntervalMeans]:
    """Divide what each interval added to ``seconds`` by what it added to ``calls``.

    Three kinds of interval say nothing and are dropped, never repaired: a counter fell
    or the entry was made anew (``reset``), too many scrapes are missing or a counter is
    no finite number (``gap``), nothing ran (``idle``). An interval that is several of
    these counts as the first.

    Args:
        series: scrapes of s queries, times in Unix seconds, ascending.
        start, end: keep the n scrapes with start ≤ time ≤ end, Unix seconds, compared
            in whole milliseconds.
        max_gap: longest interval to trust, seconds.

    Returns:
        For each query m ≤ n − 1 intervals in time order, means in seconds per call; m
        is 0 when n < 2.

    Raises:
        ValueError: *max_gap* is not positive.

    References:
        PostgreSQL documentation, pg_stat_statements: an entry's counters restart at
        zero after a reset or an eviction; ``stats_since`` (17+) tells when.
    """
    if not max_gap > 0:
        raise ValueError(f"max_gap must be positive, got {max_gap}")
    ends = np.array([start - _HALF, end + _HALF])
    groups: dict[tuple[object, ...], list[tuple[int, slice]]] = defaultdict(list)
    for index, one in enumerate(series):
        first, last = one.times.searchsorted(ends).tolist()
        told = one.since is None, one.rows is None, one.blocks is None
        shape = last - first, *told, one.squares is None
        groups[shape].append((index, slice(first, last)))
    found: dict[int, IntervalMeans] = {}
    for group in groups.values():
        indices = [index for index, _ in group]
        chosen = [(series[index], kept) for index, kept in group]
        found.update(zip(indices, _of_equal_length(chosen, max_gap), strict=True))
    return [found[index] for index in range(len(series))]


def _of_equal_length(
    group: Sequence[tuple[CounterSeries, slice]], max_gap: float
) -> Iterator[IntervalMeans]:
    """All of them as one array each column; a row of it is one query."""
    times = _rows(group, "times")
    with np.errstate(invalid="ignore"):  # inf − inf
        calls, seconds = (np.diff(_rows(group, name)) for name in ("calls", "seconds"))
    optional = {
        name: np.diff(_rows(group, name))
        for name in _OPTIONAL
        if getattr(group[0][0], name) is not None
    }
    if (squares := optional.pop("squares", None)) is not None:
        ends = (_rows(group, name)[:, 1:] for name in ("seconds", "squares"))
        optional["scatter"] = _scatter(calls, seconds, squares, *ends)
    reset = (calls < 0) | (seconds < 0)
    if (since := optional.pop("since", None)) is not None:
        # Where either end is unknown (NaN) the subtraction is NaN, which is not > 0:
        # ignorance is no evidence of a restart.
        reset |= np.abs(since) > 0
    unknown = ~(np.isfinite(calls) & np.isfinite(seconds))
    gap = ~reset & (unknown | (np.diff(times) > max_gap))
    idle = ~reset & ~gap & (calls == 0)
    usable = ~(reset | gap | idle)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = seconds / calls
    columns = {"calls": calls, "seconds": seconds, "means": means, **optional}
    columns |= {"starts": times[:, :-1], "ends": times[:, 1:]}
    dropped = zip(
        *(kind.sum(axis=1).tolist() for kind in (reset, gap, idle)), strict=True
    )
    whole = usable.all(axis=1).tolist()
    for row, ((one, _), (resets, gaps, idles)) in enumerate(
        zip(group, dropped, strict=True)
    ):
        values = {name: column[row] for name, column in columns.items()}
        if not whole[row]:
            kept = usable[row]
            values = {name: value[kept] for name, value in values.items()}
        yield IntervalMeans(
            key=one.key,
            dropped={"reset": resets, "gap": gaps, "idle": idles},
            **values,
        )


def _scatter(
    calls: Floats, seconds: Floats, squares: Floats, time: Floats, squared: Floats
) -> Floats:
    """Squared distances of the calls from their mean, summed; NaN where unknown.

    One call has none; and what rounding may have made says nothing.

    Args:
        calls, seconds, squares: what the intervals added.
        time, squared: seconds and squares so far, at their ends.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = seconds / calls
        scatter = squares - seconds * mean
        known = scatter > _ROUNDING * (squared + 2.0 * mean * time)
    return np.where(known & (calls > 1), scatter, np.nan)


def _rows(group: Sequence[tuple[CounterSeries, slice]], name: str) -> Floats:
    values = [getattr(one, name)[kept] for one, kept in group]
    return np.concatenate(values).reshape(len(values), -1)
