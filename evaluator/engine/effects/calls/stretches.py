"""Calls per second of each statement, in equal stretches of time around the deploy.

    x of statement i in stretch t = log((calls + 1/2) / seconds observed)

Half a call keeps the logarithm of nothing finite. A stretch is a minute, or the usual
distance of two scrapes where that is longer, and none holds the deploy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model import Batch, Flags, Floats, Places, Settings
from ...prepare.intervals import IDLE, USABLE, intervals

# Seconds of a stretch: single scrapes hold too few calls of most statements.
_STRETCH = 60.0
# Part of a stretch that has to be observed.
_OBSERVED = 0.5
_HALF_CALL = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class CallRates:
    """Of s statements in t stretches.

    Args:
        starts: (t,) Unix seconds, ascending.
        logs: (s, t) logarithms of the calls per second; 0 where not present.
        present: (s, t) stretches that were observed.
        before: stretches ``[:before]`` ended by the deploy; the others began with it.
        window: how many stretches one window has.
    """

    starts: Floats
    logs: Floats
    present: Flags
    before: int
    window: int


def call_rates(
    batch: Batch, rows: Places, at: float, end: float, settings: Settings
) -> CallRates:
    """Of some statements of *batch*, from the beginning of the history on.

    Args:
        rows: (s,) which.
        at, end: the deploy and the end of what is looked at, Unix seconds.
    """
    longest = max(settings.history, settings.window)
    part = batch.rows(rows).between(at - longest, end)
    history = at - min(float(part.times[0]), at) if part.times.size else longest
    usual = np.median(np.diff(part.times)) if part.times.size > 1 else _STRETCH
    width = max(_STRETCH, float(usual))
    before, after = (int(np.ceil(past / width - 1e-9)) for past in (history, end - at))
    spans = intervals(part, max_gap=settings.max_gap)
    begins = np.broadcast_to(spans.starts(), spans.kinds.shape)
    known = (spans.kinds == USABLE) | (spans.kinds == IDLE)
    known &= (spans.ends <= at) | (begins >= at)
    # By its middle: an interval belongs to the stretch that holds most of it.
    middle = (part.times[:-1] + part.times[1:]) / 2.0
    stretch = np.floor((middle - at) / width).astype(int) + before
    member = (stretch[:, None] == np.arange(before + after)).astype(np.float64)
    calls = np.where(known & spans.usable, spans.calls, 0.0) @ member
    observed = np.where(known, spans.ends - begins, 0.0) @ member
    present = observed >= _OBSERVED * width
    logs = np.log((calls + _HALF_CALL) / np.where(present, observed, 1.0))
    return CallRates(
        starts=at + width * np.arange(-before, after, dtype=np.float64),
        logs=np.where(present, logs, 0.0),
        present=present,
        before=before,
        window=max(1, round(settings.window / width)),
    )
