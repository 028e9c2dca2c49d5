"""What else happened around a deploy, and what of it may explain a slowdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .batch import Floats, QueryKey
from .subject import Deploy


@dataclass(frozen=True, slots=True, eq=False)
class ContextSeries:
    """A server-wide measure such as CPU use, checkpoints, or sessions that wait.

    Args:
        name: what it is, for a person.
        instance: the database server it belongs to; empty: all of them.
        times, values: (n,) Unix seconds, ascending, and the measure.
    """

    name: str
    instance: str
    times: Floats
    values: Floats


@dataclass(frozen=True, slots=True)
class PlanSeen:
    """One generic plan of one query, and the first and last time it was in force."""

    key: QueryKey
    plan_id: str
    outline: str
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known besides the counters.

    Args:
        deploys: others inside the windows, the judged one not among them.
        context: measures that may show an external cause.
        starts: when the server process started, as a measure in Unix seconds; a change
            is a restart or a failover.
        plans: plans that were seen in the windows.
        fingerprints, texts: of the statements whose fingerprint or text is known.
    """

    deploys: tuple[Deploy, ...] = ()
    context: tuple[ContextSeries, ...] = ()
    starts: tuple[ContextSeries, ...] = ()
    plans: tuple[PlanSeen, ...] = ()
    fingerprints: Mapping[QueryKey, str] = field(default_factory=dict)
    texts: Mapping[QueryKey, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shift:
    """The best split of any measure in two.

    Args:
        at: when the first value after it was taken, Unix seconds.
        before, after: means of the two parts, in the measure's own unit.
        p_value: chance of such a difference at a given split, the correlation of
            neighbouring values allowed for; the split was searched, so be strict.
    """

    at: float
    before: float
    after: float
    p_value: float


class CauseKind(StrEnum):
    """What kind of thing may explain a slowdown."""

    COMMON_SHIFT = "common_shift"
    CALL_RATE = "call_rate"
    ROWS_PER_CALL = "rows_per_call"
    BLOCKS_PER_CALL = "blocks_per_call"
    CONTEXT = "context"
    RESTART = "restart"
    OTHER_DEPLOY = "other_deploy"


# The values without which a cause of the kind says nothing.
_NEEDED = {
    CauseKind.COMMON_SHIFT: ("factor",),
    CauseKind.CALL_RATE: ("shift",),
    CauseKind.ROWS_PER_CALL: ("shift",),
    CauseKind.BLOCKS_PER_CALL: ("shift",),
    CauseKind.CONTEXT: ("measure", "shift"),
    CauseKind.RESTART: ("at",),
    CauseKind.OTHER_DEPLOY: ("deploy", "distance"),
}


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason besides the deploy's own code, as the numbers that speak for it.

    Args:
        external: whether it speaks for a cause outside this deploy; more rows or blocks
            per call are reported too, but may well be the deploy's doing.
        measure: name of the context measure that changed.
        shift: change of the measure, or of the query's calls per second, rows or blocks
            per call.
        at: when the server restarted or another was first seen, Unix seconds.
        another_server: whether it was another server rather than a restart.
        others, slower: number of the other queries of the server, and of those that got
            slower by more than half as much; None where the common factor rose.
        factor: median of the other queries' factors, or the rise of the common factor.
        may_follow: whether the query itself does more work per call, from which the
            measure may follow.
        blocks_unchanged: whether the query's blocks per call stayed the same, so that
            it waits rather than works more.
        deploy: the other deploy.
        distance: from the other deploy to the change, seconds.
        stored_text: sentence that an earlier version stored instead of the values.

    Raises:
        ValueError: a value that its kind needs is missing.
    """

    kind: CauseKind
    external: bool
    measure: str = ""
    shift: Shift | None = None
    at: float | None = None
    another_server: bool = False
    others: int | None = None
    slower: int | None = None
    factor: float | None = None
    may_follow: bool = False
    blocks_unchanged: bool = False
    deploy: Deploy | None = None
    distance: float | None = None
    stored_text: str = ""

    def __post_init__(self) -> None:
        missing = [name for name in _NEEDED[self.kind] if not self._has(name)]
        if missing and not self.stored_text:
            raise ValueError(f"a cause of kind {self.kind} needs {', '.join(missing)}")

    def _has(self, name: str) -> bool:
        return getattr(self, name) not in (None, "")


@dataclass(frozen=True, slots=True)
class PlanChange:
    """The outlines of the generic plans before and after, and what differs.

    Generic plans are estimates without the parameters; the plan that ran may differ.
    """

    before: str
    after: str
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
