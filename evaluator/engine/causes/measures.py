"""What is compared when a cause is looked for: the measures of slower queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...model import Batch, CauseKind, ContextSeries, Flags, Floats, Places, QueryKey
from ..prepare.intervals import Intervals, intervals

# Name of the further column, and what it is per call.
_PER_CALL = {"rows": CauseKind.ROWS_PER_CALL, "blocks": CauseKind.BLOCKS_PER_CALL}


@dataclass(frozen=True, slots=True, eq=False)
class Slower:
    """A query that got slower, and what else is known of it.

    Args:
        factor: mean after / mean before.
        change_at: when it changed by its own series, Unix seconds.
        moment: near which a cause is looked for: the deploy, or its own change where
            that lies elsewhere.
        own: times and values of its calls per second, rows and blocks per call, as far
            as they may have changed enough to matter.
        blocks_ratio: blocks per call after over before, None where unknown.
    """

    key: QueryKey
    factor: float
    change_at: float
    moment: float
    own: Mapping[CauseKind, tuple[Floats, Floats]]
    blocks_ratio: float | None


def measured_inside(series: ContextSeries, start: float, end: float) -> ContextSeries:
    """The finite values with start ≤ time ≤ end, Unix seconds."""
    kept = (series.times >= start) & (series.times <= end) & np.isfinite(series.values)
    return ContextSeries(
        series.name, series.instance, series.times[kept], series.values[kept]
    )


@dataclass(frozen=True, slots=True, eq=False)
class OwnMeasures:
    """What k queries of one server were called for, inside the windows."""

    intervals: Intervals

    @classmethod
    def of(cls, window: Batch, max_gap: float) -> OwnMeasures:
        """From the counters inside the windows."""
        return cls(intervals(window, max_gap=max_gap))

    def changed(
        self, moments: Sequence[float], tolerance: float, ratio: float
    ) -> Iterator[dict[CauseKind, tuple[Floats, Floats]]]:
        """For each query the measures with a split near its moment that is large.

        What has none cannot be a cause, wherever its best split is.

        Args:
            moments: one for each query, Unix seconds.
            ratio: least change, 1.5 for by half of the smaller value.
        """
        spans = self.intervals
        starts, usable = spans.starts(), spans.usable
        with np.errstate(divide="ignore", invalid="ignore"):
            measures = {CauseKind.CALL_RATE: spans.calls / (spans.ends - starts)}
            for name, kind in _PER_CALL.items():
                if name in spans.further:
                    measures[kind] = spans.further[name] / spans.calls
        near = np.abs(starts - np.array(moments)[:, None]) <= tolerance
        known = {
            kind: usable & np.isfinite(values) for kind, values in measures.items()
        }
        large = {
            kind: _large(values, known[kind], near, ratio)
            for kind, values in measures.items()
        }
        for row in range(len(starts)):
            yield {
                kind: (
                    starts[row, known[kind][row]],
                    values[row, known[kind][row]],
                )
                for kind, values in measures.items()
                if large[kind][row]
            }

    def blocks_ratios(self, at: float) -> list[float | None]:
        """Blocks per call after over before of each query, None where unknown."""
        spans = self.intervals
        if "blocks" not in spans.further:
            return [None] * len(spans.kinds)
        blocks = spans.further["blocks"]
        known = spans.usable & np.isfinite(blocks)
        per_call = []
        for side in (known & (spans.ends <= at), known & (spans.starts() >= at)):
            read = np.where(side, blocks, 0.0).sum(axis=1)
            calls = np.where(side, spans.calls, 0.0).sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                per_call.append(np.where(read > 0, read / calls, np.nan))
        ratios = per_call[1] / per_call[0]
        return [
            ratio if known_ratio else None
            for ratio, known_ratio in zip(
                ratios.tolist(), np.isfinite(ratios).tolist(), strict=True
            )
        ]


def _large(values: Floats, known: Flags, near: Flags, ratio: float) -> Flags:
    """(k,) whether any split near the moment leaves levels so far apart."""
    kept = np.where(known, values, 0.0)
    so_far: Floats = np.cumsum(kept, axis=1)
    count: Places = np.cumsum(known, axis=1)
    # A split before a column leaves what was added up before it on its left.
    left, on_left = so_far - kept, count - known
    with np.errstate(divide="ignore", invalid="ignore"):
        before = left / on_left
        after = (so_far[:, -1:] - left) / (count[:, -1:] - on_left)
    smaller = np.minimum(np.abs(before), np.abs(after))
    # A little less is asked for here, so that rounding cannot lose a cause.
    apart = np.abs(after - before) >= (ratio - 1.0) * smaller * (1.0 - 1e-9)
    return np.asarray((apart & near & known).any(axis=1))
