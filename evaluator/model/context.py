"""What else happened around a deploy, and what of it may explain a finding."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .series import Floats, QueryKey
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
    """

    deploys: tuple[Deploy, ...] = ()
    context: tuple[ContextSeries, ...] = ()
    starts: tuple[ContextSeries, ...] = ()
    plans: tuple[PlanSeen, ...] = ()


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
    """What kind of thing may explain a finding."""

    COMMON_SHIFT = "common_shift"
    CALL_RATE = "call_rate"
    ROWS_PER_CALL = "rows_per_call"
    BLOCKS_PER_CALL = "blocks_per_call"
    CONTEXT = "context"
    RESTART = "restart"
    OTHER_DEPLOY = "other_deploy"


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason besides the deploy's own code, with its evidence.

    Args:
        evidence: one sentence with the numbers, for a person.
        external: whether it speaks for a cause outside this deploy; what a query
            returns or reads is told, but may well be the deploy's doing.
    """

    kind: CauseKind
    evidence: str
    external: bool


@dataclass(frozen=True, slots=True)
class PlanChange:
    """The outlines of the generic plans before and after, and what differs.

    Generic plans are estimates without the parameters; the plan that ran may differ.
    """

    before: str
    after: str
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
