"""What may explain the queries that got slower: causes, and changes of plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from ..model import (
    Batch,
    Cause,
    Deploy,
    Outcome,
    PlanChange,
    QueryKey,
    Settings,
    Surroundings,
)
from .causes.kinds import OWN_RATIO, find_causes
from .causes.measures import OwnMeasures, Slower
from .causes.plans import plan_change
from .causes.shifts import find_shifts
from .detectors.base import OUTCOME, Judged
from .prepare.prepared import Prepared


class Explanations:
    """Looked for together, and only when the first of them is asked for.

    Args:
        batches: the counters that were judged.
        parts: for each server the prepared queries, and what the detector says.
    """

    def __init__(
        self,
        batches: Sequence[Batch],
        parts: Sequence[tuple[Prepared, Judged]],
        deploy: Deploy,
        settings: Settings,
        surroundings: Surroundings,
    ) -> None:
        self._batches = {batch.server: batch for batch in batches}
        self._parts = parts
        self._deploy = deploy
        self._settings = settings
        self._surroundings = surroundings

    def causes(self, key: QueryKey) -> tuple[Cause, ...]:
        """What besides the deploy's own code may have slowed the query."""
        return self._causes.get(key, ())

    def plan_change(self, key: QueryKey, replaces: str) -> PlanChange | None:
        """How its generic plan changed; *replaces* is its query id of before."""
        return plan_change(
            key, self._surroundings.plans, at=self._deploy.at, replaces=replaces
        )

    @cached_property
    def _causes(self) -> Mapping[QueryKey, tuple[Cause, ...]]:
        return find_causes(
            [query for part in self._parts for query in self._slower(*part)],
            self._deploy,
            self._settings,
            self._surroundings,
            find_shifts,
            factors={
                prepared.server: sorted(prepared.factor[prepared.rows].tolist())
                for prepared, _ in self._parts
            },
            common_rise={
                prepared.server: judged.common_rise
                for prepared, judged in self._parts
                if judged.common_rise != 1.0
            },
        )

    def _slower(self, prepared: Prepared, judged: Judged) -> Iterator[Slower]:
        rows = prepared.rows[prepared.risen]
        if not rows.size:
            return
        at, settings = self._deploy.at, self._settings
        elsewhere = (
            judged.outcomes[prepared.risen] == OUTCOME[Outcome.BACKGROUND_CHANGE]
        )
        moments = np.where(elsewhere, judged.changes.at, at).tolist()
        window = (
            self._batches[prepared.server]
            .between(at - settings.window, at + settings.window)
            .rows(rows)
        )
        own = OwnMeasures.of(window, settings.max_gap)
        for row, change_at, moment, measures, ratio in zip(
            rows.tolist(),
            judged.changes.at.tolist(),
            moments,
            own.changed(moments, settings.tolerance, OWN_RATIO),
            own.blocks_ratios(at),
            strict=True,
        ):
            factor = float(prepared.factor[row])
            key = prepared.keys[row]
            yield Slower(key, factor, change_at, moment, measures, ratio)
