"""A jump at the deploy is not common noise: two local lines, a discontinuity.

A load that grows, a cycle or a saw-tooth may stand higher after the deploy than before
and still go through it without a break. So lines are fitted to the intervals on each
side, and the jump is the difference of their ends at the deploy,

    J = (end of the right line) − (end of the left line)

It counts as abrupt where it exceeds 1.5 times any such jump of the history and 10 %,
and most of it is still there beyond the tolerance. An abrupt jump stays in the scores
and is reported; everything else that a factor does is taken out.

References:
    Hahn, Todd & van der Klaauw 2001, local linear regression discontinuity.
"""

from __future__ import annotations

import numpy as np

from ....model import Floats, Jump, Panel

# Length of the lines over the window: 12 of 30 minutes. Shorter ones are noisier,
# longer ones follow a cycle of an hour too badly.
_REACH = 0.4
_LEAST_REACH = 3
# How much more abrupt than all before, and in deviations of those, at the end of the
# window; earlier looks ask for more (O'Brien & Fleming 1979).
_MORE_ABRUPT, _LEAST_SURE = 1.5, 4.0
_LEAST_JUMP = float(np.log(1.1))
# Share of the jump that is still there later, if it is not a transient.
_LASTS = 0.5
# Fewest moments of the history to compare with.
_LEAST_MOMENTS = 20
_NORMAL_95 = 1.96


def line_end(length: int) -> Floats:
    """(length,) weights whose sum with values is their line's end, half a step on."""
    x = np.arange(length) - (length - 1) / 2.0
    weights: Floats = 1.0 / length + x * (length / 2.0) / np.sum(x * x)
    return weights


def measure_jump(path: Floats, panel: Panel, *, head: int) -> Jump:
    """Compare the jump at the deploy with all of the history.

    Args:
        path: (t,) of a factor, as the logarithm of a typical member's time.
        panel: where the deploy is.
        head: intervals after the deploy that begin inside the tolerance.
    """
    before, after = panel.before, panel.after
    most = min(before // 2, path.size - after)
    left = max(min(round(_REACH * panel.window), most), _LEAST_REACH)
    right = min(left, path.size - after)
    ends, starts = line_end(left), line_end(right)[::-1]
    level = float(path[before - left : before] @ ends)
    size = float(path[after : after + right] @ starts) - level
    # At each moment of the history: the line up to it, and the line from it.
    before_it = np.correlate(path[: before - right], ends, "valid")
    after_it = np.correlate(path[left:before], starts, "valid")
    earlier = after_it - before_it
    deviation = float(np.sqrt(np.mean(earlier**2))) if earlier.size else 0.0
    largest = float(np.abs(earlier).max(initial=0.0))
    remaining = size
    later = path[after + head :]
    if later.size and size:
        lasts = (float(np.median(later)) - level) / size
        if lasts < _LASTS:
            remaining = size * max(lasts, 0.0)
    share = min((path.size - after) / panel.window, 1.0)
    usual = max(_MORE_ABRUPT * largest, _LEAST_SURE * deviation) / np.sqrt(share)
    abrupt = earlier.size >= _LEAST_MOMENTS and bool(
        abs(remaining) > max(usual, _LEAST_JUMP)
    )
    return Jump(
        size=remaining,
        low=remaining - _NORMAL_95 * deviation,
        high=remaining + _NORMAL_95 * deviation,
        largest_before=largest,
        moments=int(earlier.size),
        abrupt=abrupt,
    )
