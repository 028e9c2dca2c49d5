"""Which queries were scraped together, so that their intervals can be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ...model import IntervalMeans

# Share of a query's intervals that must be intervals of the others, too. A query that
# missed a scrape now and then has a few longer ones.
_COMMON = 0.8


def same_grids(queries: Sequence[IntervalMeans]) -> list[list[int]]:
    """Group queries by server and scrape times.

    The scrapes of one server store all its queries at the same instants. A server that
    is scraped twice, or whose scrape interval was changed for some metrics, has several
    grids; side by side in one panel their intervals would not be what they seem.

    Returns:
        Groups of indices into *queries*, each in ascending order, the group with the
        smallest first index first. Every query is in one group.
    """
    alike: dict[tuple[str, bytes, bytes], list[int]] = defaultdict(list)
    for index in sorted(
        range(len(queries)), key=lambda i: (-queries[i].ends.size, queries[i].key)
    ):
        one = queries[index]
        alike[one.key.instance, one.starts.tobytes(), one.ends.tobytes()].append(index)
    grids: list[tuple[str, set[tuple[float, float]], list[int]]] = []
    for (server, *_), indices in alike.items():
        one = queries[indices[0]]
        own = set(zip(one.starts.tolist(), one.ends.tolist(), strict=True))
        for instance, intervals, members in grids:
            common = len(own & intervals)
            if instance == server and common >= _COMMON * len(own):
                members += indices
                intervals |= own
                break
        else:
            grids.append((server, own, indices))
    return sorted(sorted(members) for _, _, members in grids)
