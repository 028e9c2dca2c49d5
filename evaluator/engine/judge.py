"""The order of the steps, and nothing else.

Every query is prepared (intervals, floors, pre-filter), the chosen detector judges what
is past the floors, and what rose is explained: causes, and changes of plan.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model import CALIBRATED, Batch, Deploy, Settings, Surroundings
from .detectors import DETECTORS
from .explanations import Explanations
from .prepare.prepared import prepare
from .verdicts import Verdicts

_NOTHING = Surroundings()
# The looks of the default method, under the name that they had in the first release.
LOOKS = CALIBRATED.looks


def judge(
    batches: Sequence[Batch],
    deploy: Deploy,
    settings: Settings,
    surroundings: Surroundings = _NOTHING,
    *,
    look: int | None = None,
) -> Verdicts:
    """Judge every query; the same verdicts for any order of *batches*.

    Args:
        batches: the counters, one for each server; samples outside windows and history
            are ignored.
        deploy: its ``at`` divides before from after.
        surroundings: what may explain a finding.
        look: index into the looks of the detector's method when the deploy is looked
            at several times; it then spends its error over the looks, and what is not
            detected before the last look is pending.

    Returns:
        One verdict for each query, in the order of their keys.

    Raises:
        KeyError: there is no detector of the name in the settings.
    """
    detector = DETECTORS[settings.engine]
    method = detector.method
    share = 1.0 if look is None else method.looks[look]
    end = deploy.at + share * settings.window
    history = settings.history if method.learns_from_history else 0.0
    prepared = [
        prepare(batch, deploy.at, end, settings, history=history)
        for batch in sorted(batches, key=lambda batch: batch.server)
        if batch.keys
    ]
    if not prepared:
        return Verdicts([], settings, None, pending=False)
    judged = detector.judge(prepared, deploy.at, settings, look)
    parts = list(zip(prepared, judged, strict=True))
    explanations = Explanations(batches, parts, deploy, settings, surroundings)
    return Verdicts(parts, settings, explanations, pending=share < 1.0)
