"""Which queries the others are compared with, and which are judged at all.

A server may have a quarter of a million statements. What is usual there is learnt from
a bounded set that does not depend on what came after the deploy: the 500 queries with
the most execution time before it. Judged are those, and all that passed the pre-filter;
what did not rise has p = 1 in the family, so that nobody needs its history.
"""

from __future__ import annotations

import numpy as np

from ...model import Flags
from .prepared import Prepared

# Enough that a table with a fiftieth of the queries has ten members among them.
MOST = 500


def reference_of(prepared: Prepared) -> Flags:
    """(s,) the queries past the floors with the most execution time before the deploy.

    Of two with the same time, the earlier key is taken.
    """
    seconds = prepared.before.seconds[prepared.rows]
    chosen = np.zeros(seconds.size, dtype=bool)
    chosen[np.argsort(-seconds, kind="stable")[:MOST]] = True
    return chosen
