"""What of a panel is compared with what, and how much can be learnt from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model import Flags, Panel

# Fewest queries that can be compared with each other.
_FAMILY = 20
# Windows of history from which the noise is learnt before the deploy only, and the
# most of them that make the baseline.
_LONG = 3
_BASELINE = 4
# Fewest queries, and seconds before the deploy, that show what groups share.
_MANY, _HOURS = 40, 7200.0
# Fewest intervals before the deploy in which a common factor can be seen.
_FACTOR = 20
# Distance of two placebos: a third of the intervals after the deploy.
_PLACEBO = 3


@dataclass(frozen=True, slots=True)
class Scope:
    """Runs of intervals of one panel.

    Args:
        old: the baseline before the deploy; ``new`` all after it.
        recent: the window before the deploy.
        searched: where the split is searched.
        close: first and last interval with which a change by the deploy may begin:
            inside the tolerance, or the first one after a gap.
        head: how many intervals after the deploy begin inside the tolerance.
        long: whether the noise can be learnt before the deploy only.
        family: whether there are enough queries to compare with each other.
        groups: whether there are enough, and for long enough, to see what groups share.
        placebos: first intervals after moments at which nothing was deployed.
    """

    old: slice
    new: slice
    recent: slice
    searched: slice
    close: tuple[int, int]
    head: int
    long: bool
    family: bool
    groups: bool
    placebos: tuple[int, ...]

    @property
    def baseline(self) -> int:
        """How many intervals the baseline has."""
        length: int = self.old.stop - self.old.start
        return length

    @property
    def near(self) -> Flags:
        """(w,) of the intervals searched, with which the deploy's change may begin."""
        places = np.arange(self.searched.start, self.searched.stop)
        inside: Flags = (places >= self.close[0]) & (places <= self.close[1])
        return inside

    @property
    def sees_factor(self) -> bool:
        """Whether a common factor can be seen."""
        return self.family and self.old.stop >= _FACTOR


def scope_of(panel: Panel, at: float, tolerance: float, reference: int) -> Scope:
    """Divide *panel*.

    Args:
        at, tolerance: the deploy, and how far from it a change is its own, seconds.
        reference: queries that the others are compared with.
    """
    before, after, end = panel.before, panel.after, panel.starts.size
    long = before >= _LONG * panel.window
    family = reference >= _FAMILY
    seconds = panel.ends[before - 1] - panel.starts[0]
    # A scrape is a little early now and then.
    groups = long and reference >= _MANY and seconds > 0.99 * _HOURS
    length = min(_BASELINE * panel.window, before // 2) if long else before
    placebos = range(0)
    if long and family:
        step = max(1, (end - after) // _PLACEBO)
        placebos = range(length, before - (end - after) + 1, step)
    return Scope(
        old=slice(before - length, before),
        new=slice(after, end),
        recent=slice(before - panel.window, before),
        searched=slice(before - panel.window, end),
        close=(
            int(panel.starts.searchsorted(at - tolerance)),
            max(
                int(panel.starts.searchsorted(at + tolerance, side="right")) - 1, after
            ),
        ),
        head=int(panel.starts[after:].searchsorted(at + tolerance)),
        long=long,
        family=family,
        groups=groups,
        placebos=tuple(placebos),
    )
