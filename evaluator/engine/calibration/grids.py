"""Which queries were scraped together, so that their intervals can be compared."""

from __future__ import annotations

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
    grids: list[tuple[str, set[tuple[float, float]], list[int]]] = []
    longest_first = sorted(
        range(len(queries)), key=lambda i: (-queries[i].ends.size, queries[i].key)
    )
    for index in longest_first:
        query = queries[index]
        own = set(zip(query.starts.tolist(), query.ends.tolist(), strict=True))
        for instance, intervals, members in grids:
            common = len(own & intervals)
            if instance == query.key.instance and common >= _COMMON * len(own):
                members.append(index)
                intervals |= own
                break
        else:
            grids.append((query.key.instance, own, [index]))
    return sorted(sorted(members) for _, _, members in grids)
