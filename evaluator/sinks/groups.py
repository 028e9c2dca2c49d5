"""Many findings with one cause as one: people read ten lines, not fifty."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..model import Cause, CauseKind, QueryKey, Verdict

T = TypeVar("T")

# More findings than this with one cause are one line.
TOGETHER = 10
# What concerns all queries of a server, whether it is external or a note.
_OF_THE_SERVER = (CauseKind.COMMON_SHIFT, CauseKind.RESTART)


@dataclass(frozen=True, slots=True)
class Group(Generic[T]):
    """Findings with one cause, in their order; one alone has none."""

    members: tuple[T, ...]

    @property
    def first(self) -> T:
        return self.members[0]

    @property
    def together(self) -> bool:
        """Whether they are one line with their number."""
        return len(self.members) > TOGETHER


def grouped(
    findings: Iterable[T], cause: Callable[[T], Hashable | None]
) -> Iterator[Group[T]]:
    """Findings in their order; where more than ten share a cause, all at the first.

    Args:
        cause: what findings may have in common; None is nothing.
    """
    ordered = list(findings)
    by_cause: dict[Hashable, list[T]] = {}
    for one in ordered:
        if (key := cause(one)) is not None:
            by_cause.setdefault(key, []).append(one)
    shown: set[Hashable] = set()
    for one in ordered:
        key = cause(one)
        alike = by_cause.get(key, []) if key is not None else []
        if len(alike) <= TOGETHER:
            yield Group((one,))
        elif key not in shown:
            shown.add(key)
            yield Group(tuple(alike))


def cause_of(verdict: Verdict, explained: Container[QueryKey] = ()) -> Hashable | None:
    """What a slower query has in common with others: cause, lost plan nodes, server.

    Args:
        explained: queries whose rise is not beyond one that many share.
    """
    server = verdict.key.instance
    if verdict.key in explained:
        return server, "shared rise"
    for cause in sorted(verdict.causes, key=lambda one: not one.external):
        if (shared := _shared(cause)) is not None:
            return server, *shared
    if verdict.plan_change is not None and verdict.plan_change.lost:
        return server, *verdict.plan_change.lost
    return None


def _shared(cause: Cause) -> tuple[Hashable, ...] | None:
    """What makes a cause the same one for several queries; None if it is their own."""
    if not cause.external and cause.kind not in _OF_THE_SERVER:
        return None
    deploy = "" if cause.deploy is None else cause.deploy.id
    return cause.kind, cause.measure, deploy
