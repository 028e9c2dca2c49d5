"""The columns that the steps leave behind → one verdict for each query, when asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from ..model import (
    Cause,
    ChangePoint,
    Effect,
    Effects,
    Level,
    Outcome,
    QueryKey,
    Settings,
    Significance,
    Stage,
    Verdict,
    Window,
)
from .detectors.base import OUTCOMES, STAGES, Judged
from .effects.overview import Overview
from .explanations import Explanations
from .prepare.prepared import Prepared
from .prepare.windows import Side


class Verdicts(Sequence[Verdict]):
    """The verdicts of one deploy in the order of their keys, made when asked for.

    Args:
        parts: for each server the prepared queries, and what the detector says.
        explanations: of the queries that got slower; None without any query.
        overview: of what the deploy did besides; None without any query.
        pending: whether only a detection is final yet.
    """

    def __init__(
        self,
        parts: Sequence[tuple[Prepared, Judged]],
        settings: Settings,
        explanations: Explanations | None,
        overview: Overview | None,
        *,
        pending: bool,
    ) -> None:
        self._overview = overview
        self._rows = [
            _Rows(*part, settings, explanations, pending=pending) for part in parts
        ]
        places = [
            (key, part, row)
            for part, rows in enumerate(self._rows)
            for row, key in enumerate(rows.prepared.keys)
        ]
        # A batch is in the order of its keys, and so are the servers.
        self._places = places if len(self._rows) < 2 else sorted(places)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Verdict: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, place: int | slice) -> Verdict | Sequence[Verdict]:
        if isinstance(place, slice):
            return [self._make(*found) for found in self._places[place]]
        return self._make(*self._places[place])

    def __iter__(self) -> Iterator[Verdict]:
        return (self._make(*place) for place in self._places)

    @property
    def effects(self) -> Effects:
        """What the deploy did besides making single queries slower."""
        return Effects() if self._overview is None else self._overview.effects

    def detected(self) -> int:
        """How many queries are detected."""
        return sum(rows.detected for rows in self._rows)

    def _make(self, _: QueryKey, part: int, row: int) -> Verdict:
        return self._rows[part].verdict(row)


class _Rows:
    """The queries of one server."""

    def __init__(
        self,
        prepared: Prepared,
        judged: Judged,
        settings: Settings,
        explanations: Explanations | None,
        *,
        pending: bool,
    ) -> None:
        self.prepared = prepared
        self._judged = judged
        self._settings = settings
        self._explanations = explanations
        self._pending = pending
        # Where a query stands among those past the floors, and those that got slower.
        self._past = np.full(len(prepared.keys), -1)
        self._past[prepared.rows] = np.arange(prepared.rows.size)
        self._slower = np.where(prepared.risen, np.cumsum(prepared.risen) - 1, -1)

    @property
    def detected(self) -> int:
        detected = OUTCOMES.index(Outcome.DETECTED)
        return int(np.count_nonzero(self._judged.outcomes == detected))

    def verdict(self, row: int) -> Verdict:
        """Of the query that stands there."""
        prepared, past = self.prepared, int(self._past[row])
        outcome, stage = Outcome.INSUFFICIENT_DATA, Stage.FLOORS
        before, after = (
            _window(side, row) for side in (prepared.before, prepared.after)
        )
        reason, factor = "", None
        if past < 0:
            reason = _missing(before, after, self._settings)
        else:
            factor = float(prepared.factor[row])
            outcome = OUTCOMES[self._judged.outcomes[past]]
            stage = STAGES[self._judged.stages[past]]
        slower = -1 if past < 0 else int(self._slower[past])
        change = test = effect = None
        if slower >= 0:
            effect = self._effect(before, after, past)
            change = self._change(slower)
            if stage in (Stage.WELCH, Stage.FAMILY):
                test = self._judged.changes.tests.test(slower)
        if self._pending and outcome is not Outcome.DETECTED:
            outcome = Outcome.PENDING
        key, dropped = prepared.keys[row], prepared.dropped
        replaces = prepared.replaces.get(key, "")
        causes: tuple[Cause, ...] = ()
        plan_change = None
        if effect is not None and self._explanations is not None:
            causes = self._explanations.causes(key)
            plan_change = self._explanations.plan_change(key, replaces)
        return Verdict(
            key=key,
            outcome=outcome,
            stage=stage,
            usable=int(prepared.usable[row]),
            dropped={
                "reset": int(dropped.reset[row]),
                "gap": int(dropped.gap[row]),
                "idle": int(dropped.idle[row]),
            },
            before=before,
            after=after,
            reason=reason,
            factor=factor,
            change=change,
            test=test,
            effect=effect,
            significance=self._significance(past, slower),
            causes=causes,
            plan_change=plan_change,
            replaces=replaces,
            unused_seconds=float(prepared.unused_seconds[row]),
        )

    def _effect(self, before: Window, after: Window, past: int) -> Effect:
        mean_before, mean_after = (
            before.seconds / before.calls,
            after.seconds / after.calls,
        )
        factor = mean_after / mean_before
        low = high = None
        if (significances := self._judged.significances) is not None:
            width = float(significances.width[past])
            low, high = factor / width, factor * width
        return Effect(
            before=mean_before,
            after=mean_after,
            factor=factor,
            extra_seconds_per_second=(mean_after - mean_before)
            * after.calls
            / after.duration,
            low=low,
            high=high,
        )

    def _change(self, slower: int) -> ChangePoint:
        changes = self._judged.changes
        return ChangePoint(
            split=int(changes.splits[slower]),
            at=float(changes.at[slower]),
            statistic=float(changes.statistics[slower]),
            min_segment=int(changes.min_segments[slower]),
        )

    def _significance(self, past: int, slower: int) -> Significance | None:
        known = self._judged.significances
        if known is None or past < 0:
            return None
        q_value = float(known.q_value[past])
        level = None
        if slower >= 0 and known.near[past]:
            if q_value <= self._settings.alpha:
                level = Level.ALERT
            elif q_value <= self._settings.watch:
                level = Level.WATCH
        return Significance(
            p_value=float(known.p_value[past]),
            q_value=q_value,
            level=level,
            phi=None if np.isnan(known.phi[past]) else float(known.phi[past]),
            no_change_bound=float(known.no_change_bound[past]),
            long_history=bool(known.long_history[past]),
            by_dispersion=bool(known.by_dispersion[past]),
            transient=bool(known.transient[past]),
        )


def _window(side: Side, row: int) -> Window:
    return Window(
        int(side.samples[row]),
        float(side.calls[row]),
        float(side.seconds[row]),
        float(side.duration[row]),
    )


def _missing(before: Window, after: Window, settings: Settings) -> str:
    """Which floors are not met."""
    missing = [
        f"{count:g} of {floor} {what} {side} the deploy"
        for side, window in (("before", before), ("after", after))
        for what, count, floor in (
            ("intervals", window.samples, settings.min_samples),
            ("calls", window.calls, settings.min_calls),
        )
        if count < floor
    ]
    return ", ".join(missing) or "no execution time recorded before the deploy"
