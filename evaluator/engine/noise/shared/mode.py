"""The common factor as the mode over the queries, interval by interval.

A median moves as soon as 40 % of the queries move, and takes half of what they do for
everybody's; the mode stays where most of them are until most of them go. With x of
query i, its deviation s of i, and a kernel of .7 deviations, it is the maximum over m
of

    sum over i of exp(−(x − m)² / (2 · (.7 s)²))

found by mean shift from the median: m becomes the mean of x weighted by 1/s² and by the
same kernel, until it rests. Without it, of the benchmark's scenes those with two groups
lose most (docs/statistics.md, "Each part off").

References:
    Comaniciu & Meer 2002, Mean shift; Fukunaga & Hostetler 1975.
"""

from __future__ import annotations

import numpy as np

from ....model import Flags, Floats
from ...stats.moments import TINY

# Kernel width in deviations: narrower it is as noisy as a histogram's peak, wider it
# becomes the mean. Between .5 and 1 the figures of the benchmark hardly differ.
WIDTH = 0.7
# Mean shift doubles its digits slowly; after so many steps it moves by less than a
# thousandth of a deviation in the benchmark.
_STEPS = 12


def column_modes(values: Floats, present: Flags, deviation: Floats) -> Floats:
    """(t,) mode over the queries of each interval; 0 where no query is.

    Args:
        values: (s, t) logarithms.
        present: (s, t) which of them there are.
        deviation: (s,) of each query, above 0.
    """
    precision = 1.0 / (deviation * deviation)
    mode = _column_medians(values, present)
    scaled = values / (WIDTH * deviation)[:, None]
    per_width = 1.0 / (WIDTH * deviation)
    weights = np.empty_like(values)
    for _ in range(_STEPS):
        np.multiply.outer(per_width, mode, out=weights)
        np.subtract(scaled, weights, out=weights)
        weights *= weights
        weights *= -0.5
        np.exp(weights, out=weights)
        weights *= present
        total = precision @ weights
        weights *= values
        mode = np.where(
            total > TINY, precision @ weights / np.maximum(total, TINY), mode
        )
    return mode


def _column_medians(values: Floats, present: Flags) -> Floats:
    masked = np.sort(np.where(present, values, np.inf), axis=0)
    count = np.count_nonzero(present, axis=0)
    columns = np.arange(values.shape[1])
    low = masked[np.maximum(count - 1, 0) // 2, columns]
    high = masked[np.minimum(count // 2, len(values) - 1), columns]
    middle: Floats = np.where(count > 0, (low + high) / 2.0, 0.0)
    return middle
