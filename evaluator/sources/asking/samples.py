"""The samples of some queries over a time, and which such pieces a server answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .pieces import NEXT, Span


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of some queries in a span."""

    ids: tuple[str, ...]
    span: Span

    def smaller(self) -> Sequence[Samples]:
        if len(self.ids) > 1:
            half = (len(self.ids) + 1) // 2
            parts = self.ids[:half], self.ids[half:]
            return [Samples(ids, self.span) for ids in parts]
        return [Samples(self.ids, span) for span in self.span.smaller()]

    def over(self, span: Span) -> Samples:
        return Samples(self.ids, span)

    def describe(self) -> str:
        queries = "one query" if len(self.ids) == 1 else f"{len(self.ids)} queries"
        return f"{queries} over {self.span.describe()}"


class Sizes:
    """The largest pieces that have not been refused, so that nobody asks in vain again.

    A server that limits the length of a range refuses even one query. Then it may well
    answer many of them over a shorter time, so their number is tried anew, once.
    """

    def __init__(self) -> None:
        self._most: int | None = None
        self._longest: float | None = None

    def refused(self, piece: Samples, part: Samples) -> None:
        if len(part.ids) < len(piece.ids):
            self._most = len(part.ids)
        elif self._longest is None:
            self._most = None
        if part.span.length < piece.span.length:
            self._longest = part.span.length + NEXT

    def cut(self, piece: Samples) -> Sequence[Samples]:
        spans: list[Span] = [piece.span]
        while self._longest is not None and spans[0].length > self._longest + NEXT:
            halves = [half for span in spans for half in span.smaller()]
            if len(halves) <= len(spans):
                break
            spans = halves
        most = self._most or len(piece.ids)
        return [
            Samples(piece.ids[first : first + most], span)
            for first in range(0, len(piece.ids), most)
            for span in spans
        ]
