"""The classic rule: pre-filter → E-divisive → tolerance → Welch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model import CLASSIC, Check, Outcome, Settings, Stage, Verdict
from ..prepare.prepared import Prepared
from .base import OUTCOME, STAGE, Detector, Judged, search, stages_of
from .checks import checks


class Classic(Detector):
    """Judges each query alone, by the windows only."""

    method = CLASSIC

    def judge(
        self,
        prepared: Sequence[Prepared],
        at: float,
        settings: Settings,
        look: int | None,  # noqa: ARG002 - there is one only
    ) -> list[Judged]:
        """See :class:`Detector`; there is one look only."""
        return [_judge(one, at, settings) for one in prepared]

    def explain(self, verdict: Verdict, settings: Settings) -> tuple[Check, ...]:
        """See :class:`Detector`."""
        own = {"split": {"statistic": 0.0}, "test": {"p_nominal": settings.alpha}}
        return checks(verdict, settings, own)


def _judge(prepared: Prepared, at: float, settings: Settings) -> Judged:
    outcomes, stages = stages_of(prepared)
    changes = search(
        *prepared.window_of(prepared.risen),
        prepared.times[prepared.first + 1 :],
        at=at,
        tolerance=settings.tolerance,
    )
    rows = np.flatnonzero(prepared.risen)
    splits = changes.statistics > 0.0
    elsewhere = splits & ~changes.near
    tested = splits & changes.near
    outcomes[rows[elsewhere]] = OUTCOME[Outcome.BACKGROUND_CHANGE]
    stages[rows[elsewhere]] = STAGE[Stage.TOLERANCE]
    stages[rows[tested]] = STAGE[Stage.WELCH]
    significant = tested & changes.tests.upward
    significant[tested] &= changes.tests.p_nominal[tested] <= settings.alpha
    outcomes[rows[significant]] = OUTCOME[Outcome.DETECTED]
    return Judged(outcomes, stages, changes)
