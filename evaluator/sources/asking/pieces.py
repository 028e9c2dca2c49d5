"""A question that a server calls too large → smaller ones, until it answers (pure).

Servers limit samples, series, bytes and seconds, and say so in their own words and
codes; what helps is always the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

from ...errors import SourceError, TooMuchError
from ...units import show_duration

# Scrapes are seldom further apart, so that a shorter piece would be empty, seconds.
_SHORTEST = 60.0
# Prometheus keeps whole milliseconds: the next piece begins one after the last.
NEXT = 0.001
# How much may be refused before nobody asks any more: a plain refusal counts as one, a
# server that had to be waited for as several, and then more is cut off at once.
_PATIENCE, _SLOW = 48, 8
# More questions than these, after the first refusal, and they would take an hour.
_MOST = 5000


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
        after = middle + NEXT
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
