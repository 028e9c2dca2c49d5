"""Settings that leave nothing to judge at the scrape interval that there is (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..model import METHODS, Settings
from ..units import show_duration, write_duration

# Scrapes come a little early or late: a longest interval must be so much longer than
# the usual one, and one that is proposed lets a single scrape be missed.
_JITTER, _ONE_MISSED = 1.02, 2.0
# Windows of history that the calibrated engine needs to learn the noise before them.
HISTORY = 3
# A proposed duration is a multiple of this, seconds.
_ROUND = 60.0


def obstacles(settings: Settings, interval: float) -> Iterator[str]:
    """A sentence for each setting that leaves nothing to judge, and what would work.

    Args:
        interval: between two scrapes, seconds.
    """
    if settings.max_gap < _JITTER * interval:
        yield (
            f"engine.max_gap ({write_duration(settings.max_gap)}) is not above the "
            f"scrape interval ({show_duration(interval)}), so intervals are dropped as "
            f"gaps; set engine.max_gap to {_up(_ONE_MISSED * interval)} or more, or "
            "scrape more often"
        )
    # Scrapes are a few milliseconds early or late.
    fits = round(settings.window / interval)
    if fits < settings.min_samples:
        yield (
            f"a window of {show_duration(settings.window)} holds {fits} intervals of "
            f"{show_duration(interval)}, fewer than engine.min_samples "
            f"({settings.min_samples}); scrape more often or widen the window: set "
            f"engine.window to {_up((settings.min_samples + 1) * interval)} or more"
        )


def few_calls(settings: Settings, most: float) -> str:
    """Why no query reaches the floor of calls; empty where one does.

    Args:
        most: calls per second of the query that is called most.
    """
    calls = most * settings.window
    if calls >= settings.min_calls or most <= 0:
        return ""
    return (
        f"the query that is called most is called about {calls:.0f} times in a window "
        f"of {show_duration(settings.window)}, fewer than engine.min_calls "
        f"({settings.min_calls}); set engine.window to "
        f"{_up(1.1 * settings.min_calls / most)} or more, or engine.min_calls to "
        f"{max(1, math.floor(0.9 * calls))} or less"
    )


def short_history(settings: Settings) -> str:
    """Why the noise cannot be learnt before the windows; empty where it can."""
    needed = HISTORY * settings.window
    if not METHODS[settings.engine].learns_from_history or settings.history >= needed:
        return ""
    return (
        f"engine.history ({write_duration(settings.history)}) is less than {HISTORY} "
        "windows, so the noise is learnt from the windows themselves, which show slow "
        f"noise badly; set engine.history to {_up(needed)} or more"
    )


def _up(seconds: float) -> str:
    """A duration of at least *seconds*, in whole minutes."""
    return write_duration(_ROUND * math.ceil(seconds / _ROUND - 1e-9))
