"""A question that a server calls too large → smaller ones, until it answers (pure).

Servers limit samples, series, bytes and seconds, and say so in their own words and
codes; what helps is always the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, Self, TypeVar

from ..errors import SourceError, TooMuchError
from ..units import show_duration
from .api import matcher

# Scrapes are seldom further apart, so that a shorter piece would be empty, seconds.
_SHORTEST = 60.0
# Prometheus keeps whole milliseconds: the next piece begins one after the last.
_NEXT = 0.001
# How much may be refused before nobody asks any more: a plain refusal counts as one, a
# server that had to be waited for as several, and then more is cut off at once.
_PATIENCE, _SLOW = 48, 8
# More questions than these, after the first refusal, and they would take an hour.
_MOST = 5000
# Query ids end with each of these about as often; so many digits are looked at.
_DIGITS = "0123456789"
_ENDINGS = 2


class Piece(Protocol):
    """What is asked for."""

    @property
    def span(self) -> Span:
        """The time that it is about."""

    def over(self, span: Span) -> Self:
        """The same in another span."""

    def smaller(self) -> Sequence[Self]:
        """The same in two or more parts; empty where it cannot be cut."""

    def describe(self) -> str:
        """What is in it, for messages."""


P = TypeVar("P", bound=Piece)
A = TypeVar("A")


class Learner(Protocol[P]):
    """Remembers what was refused."""

    def refused(self, piece: P, part: P) -> None:
        """Learn that *piece* was too much, and that a *part* of it is asked for now."""

    def cut(self, piece: P) -> Sequence[P]:
        """The piece in parts that are as large as is known to work."""


@dataclass(frozen=True, slots=True)
class Answered(Generic[P, A]):
    """One piece and its answer."""

    piece: P
    answer: A


@dataclass(slots=True)
class Patience:
    """How much more may be refused, and asked after a refusal."""

    refusals: int = _PATIENCE
    questions: int = _MOST
    refused: list[str] = field(default_factory=list)

    def spend(self, error: TooMuchError, piece: Piece, *, can_be_cut: bool) -> None:
        """Count a refusal.

        Raises:
            SourceError: the patience is at its end, or the piece cannot be smaller.
        """
        self.refused.append(str(error))
        self.refusals -= _SLOW if error.slow else 1
        if not can_be_cut or self.refusals <= 0:
            raise SourceError(
                f"{error}; smaller questions were refused, too, the last one for "
                f"{piece.describe()}; if this is a limit, raise that of the server, or "
                "of the proxy before it"
            ) from error

    def asked(self) -> None:
        """Count a question.

        Raises:
            SourceError: there would be too many of them.
        """
        if not self.refused:
            return
        self.questions -= 1
        if self.questions <= 0:
            raise SourceError(
                f"{self.refused[0]}; in pieces that it answers, more than {_MOST} "
                "questions are needed; raise the limits of the server, choose fewer "
                "series with the selector, or shorten engine.window and engine.history"
            )


def in_pieces(
    whole: Sequence[P],
    ask: Callable[[P], A],
    patience: Patience,
    learner: Learner[P] | None = None,
) -> Iterator[Answered[P, A]]:
    """The answers to *whole*, in its order, cut into pieces as small as needed.

    Args:
        ask: raises TooMuchError where a smaller piece may be answered.

    Raises:
        SourceError: any other error of *ask*; or too much was refused, and the message
            has the server's reason. Then nothing of the answers may be used.
    """
    waiting = deque(whole)
    while waiting:
        piece = waiting.popleft()
        if learner is not None and len(cut := learner.cut(piece)) > 1:
            waiting.extendleft(reversed(cut))
            continue
        patience.asked()
        try:
            answer = ask(piece)
        except TooMuchError as error:
            parts = piece.smaller()
            patience.spend(error, piece, can_be_cut=bool(parts))
            if error.slow:
                parts = [
                    part.over(span)
                    for part in parts
                    for span in part.span.smaller() or [part.span]
                ]
            if learner is not None:
                learner.refused(piece, parts[0])
            waiting.extendleft(reversed(parts))
        except SourceError as error:
            if not patience.refused:
                raise
            raise SourceError(
                f"{patience.refused[0]}; asked for less, {error}"
            ) from error
        else:
            yield Answered(piece, answer)


@dataclass(frozen=True, slots=True)
class Span:
    """A time from start to end, Unix seconds, both included.

    Args:
        step: pieces begin a multiple of it after the start; any time where it is 0.
    """

    start: float
    end: float
    step: float = 0.0

    def smaller(self) -> Sequence[Span]:
        length = self.length
        if length < 2 * max(_SHORTEST, self.step):
            return ()
        middle = self.start + round(length / 2, 3)
        after = middle + _NEXT
        if self.step:
            middle = self.start + int(length / 2 / self.step) * self.step
            after = middle + self.step
        return Span(self.start, middle, self.step), Span(after, self.end, self.step)

    @property
    def length(self) -> float:
        """Seconds."""
        return self.end - self.start

    @property
    def span(self) -> Span:
        return self

    def over(self, span: Span) -> Span:
        return span

    def describe(self) -> str:
        return show_duration(self.length)


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
            self._longest = part.span.length + _NEXT

    def cut(self, piece: Samples) -> Sequence[Samples]:
        spans: list[Span] = [piece.span]
        while self._longest is not None and spans[0].length > self._longest + _NEXT:
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
    """The largest lists that have not been refused; like :class:`Sizes`."""

    def __init__(self) -> None:
        self._digits = 0
        self._longest: float | None = None

    def refused(self, piece: Listing, part: Listing) -> None:
        if part.ending != piece.ending:
            self._digits = max(self._digits, len(part.ending))
        elif part.names == piece.names and self._longest is None:
            self._digits = 0
        if part.span.length < piece.span.length:
            self._longest = part.span.length + _NEXT

    def cut(self, piece: Listing) -> Sequence[Listing]:
        if len(piece.names) > 1:
            return [piece]
        if self._longest is not None and piece.span.length > self._longest + _NEXT:
            return [piece.over(span) for span in piece.span.smaller()] or [piece]
        if piece.can_have_fewer_ids and len(piece.ending) < self._digits:
            return piece.smaller()
        return [piece]
