"""The list of the series of some metrics, by the ends of their query ids if need be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..api import matcher
from .pieces import NEXT, Span

# Query ids end with each of these about as often; so many digits are looked at.
_DIGITS = "0123456789"
_ENDINGS = 2


@dataclass(frozen=True, slots=True)
class Listing:
    """The list of the series of some metrics in a span.

    Args:
        names: of the metrics.
        span: when they have samples.
        label: the label with the query id; empty for metrics without.
        without: those of several metrics that have no query id.
        ending: digits that the query ids end with.
        exactly: no digit stands before these; without them: the ids end otherwise.
    """

    names: tuple[str, ...]
    span: Span
    label: str = ""
    without: frozenset[str] = frozenset()
    ending: str = ""
    exactly: bool = False

    @property
    def matchers(self) -> tuple[str, ...]:
        """What chooses these ids; none for all."""
        if self.exactly:
            pattern = f"(.*[^0-9])?{self.ending}" if self.ending else "(.*[^0-9])?"
        elif self.ending:
            pattern = f".*{self.ending}"
        else:
            return ()
        return (matcher(self.label, pattern, "=~"),)

    @property
    def can_have_fewer_ids(self) -> bool:
        """Whether its query ids can be divided."""
        return bool(self.label) and not self.exactly and len(self.ending) < _ENDINGS

    def smaller(self) -> Sequence[Listing]:
        if len(self.names) > 1:
            return [
                replace(
                    self,
                    names=(name,),
                    label="" if name in self.without else self.label,
                )
                for name in self.names
            ]
        if self.can_have_fewer_ids:
            longer = [replace(self, ending=one + self.ending) for one in _DIGITS]
            return [*longer, replace(self, exactly=True)]
        return [self.over(span) for span in self.span.smaller()]

    def over(self, span: Span) -> Listing:
        return replace(self, span=span)

    def describe(self) -> str:
        return f"the series of {', '.join(self.names)} over {self.span.describe()}"


class Depths:
    """The largest lists that have not been refused; like ``samples.Sizes``."""

    def __init__(self) -> None:
        self._digits = 0
        self._longest: float | None = None

    def refused(self, piece: Listing, part: Listing) -> None:
        if part.ending != piece.ending:
            self._digits = max(self._digits, len(part.ending))
        elif part.names == piece.names and self._longest is None:
            self._digits = 0
        if part.span.length < piece.span.length:
            self._longest = part.span.length + NEXT

    def cut(self, piece: Listing) -> Sequence[Listing]:
        if len(piece.names) > 1:
            return [piece]
        if self._longest is not None and piece.span.length > self._longest + NEXT:
            return [piece.over(span) for span in piece.span.smaller()] or [piece]
        if piece.can_have_fewer_ids and len(piece.ending) < self._digits:
            return piece.smaller()
        return [piece]
