"""Many queries of one server that got slower at once, as one finding."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .batch import QueryKey
from .context import Cause
from .estimate import Estimate


class Severity(StrEnum):
    """How loudly an alert is raised."""

    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class SharedRise:
    """An abrupt rise at the deploy that the queries of a server, or a group, share.

    Args:
        whole: whether it is of all queries of the server; else of a group that moves
            together in the history, too.
        queries: how many follow it.
        members: those that it costs most, the costliest first.
        factor: time per call after over before of a typical one.
        largest_before: factor of the largest jump, either way, at any moment of the
            history; *moments* is their number.
        extra_seconds_per_second: of execution, what it costs all of them together.
        severity: by what it costs and by the factor.
        explained: detected queries whose rise is not beyond it.
        causes: external ones that most of the slower members have.
    """

    server: str
    whole: bool
    queries: int
    members: tuple[QueryKey, ...]
    factor: Estimate
    largest_before: float
    moments: int
    extra_seconds_per_second: float
    severity: Severity
    explained: tuple[QueryKey, ...] = ()
    causes: tuple[Cause, ...] = ()

    @property
    def external_cause(self) -> bool:
        """Whether something besides the deploy may explain it."""
        return any(cause.external for cause in self.causes)
