"""What several queries of a server do together, and whether it jumped at the deploy."""

from __future__ import annotations

from dataclasses import dataclass

from .batch import Floats, Places


@dataclass(frozen=True, slots=True)
class Jump:
    """An abrupt change of a factor at the deploy, as logarithms of a time per call.

    Args:
        size: difference of the local lines on both sides, as far as it lasts.
        low, high: 95 % interval by the jumps of the history.
        largest_before: of all moments of the history, either direction.
        moments: how many those are.
        abrupt: whether *size* exceeds them all clearly; it is then part of the
            queries' scores and not of the noise.
    """

    size: float
    low: float
    high: float
    largest_before: float
    moments: int
    abrupt: bool


@dataclass(frozen=True, slots=True, eq=False)
class SharedFactor:
    """What some queries of a server have in common.

    Args:
        members: (k,) rows of the queries that follow it.
        loadings: (k,) logarithm of each one's time per unit of the path; 1 is typical.
        ends: (t,) of the intervals, Unix seconds.
        path: (t,) logarithm of a typical member's time around its level.
        jump: at the deploy.
        common: whether it is that of all queries.
    """

    members: Places
    loadings: Floats
    ends: Floats
    path: Floats
    jump: Jump
    common: bool
