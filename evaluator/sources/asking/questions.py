"""The questions behind a reading: which series there are, then their samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...errors import SourceError
from ...transport.answers import Answer
from ..api import PrometheusApi, escape_regex, label_name, quoted
from ..matrix import RawSeries, decode_matrix
from ..profiles import Profile
from ..series.batches import Period
from .listing import Depths, Listing
from .pieces import Answered, Patience, Span, in_pieces
from .samples import Samples, Sizes

# The patience for what only explains.
_LITTLE = 16


@dataclass(frozen=True, slots=True)
class Listed:
    """Which of the profile's series a server has.

    Args:
        names: the metrics among them.
        ids: how many series of the counters each query id has.
        warnings: of the server about its answer.
    """

    names: frozenset[str]
    ids: Counter[str]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One answer of many, or why there is none.

    Args:
        period: what of the answer counts; None for all.
        ends_chunk: whether all of the queries asked for together have been answered.
        is_detail: whether it only explains.
    """

    answer: Answer | None = None
    period: Period | None = None
    ends_chunk: bool = False
    is_detail: bool = False
    problem: str = ""

    def series(self) -> tuple[list[RawSeries], tuple[str, ...]]:
        """The series in the answer, and its warnings.

        Raises:
            SourceError: other data than raw samples.
        """
        if self.answer is None:
            return [], ()
        series, warnings = decode_matrix(self.answer)
        cut = series if self.period is None else map(self.period.within, series)
        return list(cut), warnings


class Asking:
    """Asks for one reading; what a server calls too large is asked for in pieces."""

    def __init__(self, api: PrometheusApi, profile: Profile) -> None:
        self._api = api
        self._profile = profile
        self._sizes, self._detail_sizes = Sizes(), Sizes()

    def listed(self, span: Span, queryids: Collection[str]) -> Listed:
        """What there is of the counters, and of what tells servers apart.

        Args:
            queryids: only these; empty: all.

        Raises:
            SourceError: no usable answer.
        """
        profile = self._profile
        only = [_only(profile.queryid, sorted(queryids))] if queryids else []

        def ask(piece: Listing) -> tuple[list[dict[str, str]], tuple[str, ...]]:
            selectors = [
                self._api.chosen(name, *only, *piece.matchers)
                if name in profile.metrics
                else self._api.chosen(name)
                for name in piece.names
            ]
            return self._api.labels(selectors, piece.span.start, piece.span.end)

        names = *profile.metrics, *profile.identity
        whole = Listing(names, span, profile.queryid, frozenset(profile.identity))
        parts = in_pieces([whole], ask, Patience(), Depths())
        found, warnings = _distinct(parts)
        ids = Counter(
            one.get(profile.queryid, "")
            for one in found
            if one.get("__name__") in profile.counters
        )
        there = frozenset(one.get("__name__", "") for one in found)
        return Listed(there, ids, warnings)

    def parts(
        self,
        chunks: Iterable[Sequence[str]],
        names: Sequence[str],
        span: Span,
        details: Span | None,
    ) -> Iterator[Part]:
        """Ask for the samples, one metric of one chunk of query ids after the other.

        What may explain a judgement is asked for last; a failure ends that and is noted
        once.

        Raises:
            SourceError: no usable answer.
        """
        patience = Patience()
        explaining = _only("__name__", self._profile.details)
        for chunk in chunks:
            whole = Samples(tuple(chunk), span)
            for name in names:
                ask = partial(self._samples, name, ())
                for part in in_pieces([whole], ask, patience, self._sizes):
                    yield Part(part.answer, _period(part.piece, whole))
            if details is not None:
                whole = Samples(tuple(chunk), details)
                ask = partial(self._samples, "", (explaining,))
                try:
                    little, sizes = Patience(_LITTLE), self._detail_sizes
                    pieces = in_pieces([whole], ask, little, sizes)
                    for part in pieces:
                        period = _period(part.piece, whole)
                        yield Part(part.answer, period, is_detail=True)
                except SourceError as error:
                    details = None
                    yield Part(is_detail=True, problem=str(error))
            yield Part(ends_chunk=True)

    def _samples(self, name: str, more: Sequence[str], piece: Samples) -> Answer:
        only = _only(self._profile.queryid, piece.ids)
        selector = self._api.chosen(name, *more, only)
        return self._api.samples_answer(selector, piece.span.start, piece.span.end)


def whole_list(
    api: PrometheusApi, name: str, span: Span, queryid: str
) -> tuple[list[dict[str, str]], tuple[str, ...]]:
    """The labels of all series of *name*, and the warnings.

    Args:
        queryid: the label with the query id.

    Raises:
        SourceError: no usable answer.
    """

    def ask(piece: Listing) -> tuple[list[dict[str, str]], tuple[str, ...]]:
        selector = api.chosen(name, *piece.matchers)
        return api.labels([selector], piece.span.start, piece.span.end)

    whole = Listing((name,), span, queryid)
    return _distinct(in_pieces([whole], ask, Patience(_LITTLE), Depths()))


def whole_samples(
    api: PrometheusApi, names: Sequence[str], span: Span
) -> tuple[list[RawSeries], tuple[str, ...]]:
    """The samples of all series of *names*, and the warnings.

    Raises:
        SourceError: no usable answer.
    """
    selector = api.chosen("", _only("__name__", names))
    if len(names) == 1:
        selector = api.chosen(names[0])

    def ask(piece: Span) -> tuple[list[RawSeries], tuple[str, ...]]:
        series, warned = api.samples(selector, piece.start, piece.end)
        return list(map(Period(piece.start, piece.end).within, series)), warned

    return _stitched(in_pieces([span], ask, Patience(_LITTLE)))


def whole_grid(
    api: PrometheusApi, expression: str, span: Span
) -> tuple[list[RawSeries], tuple[str, ...]]:
    """The values of *expression* on the grid of *span*, and the warnings.

    Raises:
        SourceError: no usable answer.
    """

    def ask(piece: Span) -> tuple[list[RawSeries], tuple[str, ...]]:
        return api.evaluated(expression, piece.start, piece.end, piece.step)

    return _stitched(in_pieces([span], ask, Patience(_LITTLE)))


def _distinct(
    parts: Iterable[Answered[Listing, tuple[list[dict[str, str]], tuple[str, ...]]]],
) -> tuple[list[dict[str, str]], tuple[str, ...]]:
    """Each series once; one with samples in several pieces of time is in each."""
    found: dict[frozenset[tuple[str, str]], dict[str, str]] = {}
    warnings: dict[str, None] = {}
    for part in parts:
        labels, warned = part.answer
        found |= {frozenset(one.items()): one for one in labels}
        warnings |= dict.fromkeys(warned)
    return list(found.values()), tuple(warnings)


def _stitched(
    parts: Iterable[Answered[Span, tuple[list[RawSeries], tuple[str, ...]]]],
) -> tuple[list[RawSeries], tuple[str, ...]]:
    """Series in pieces of the time as one each."""
    found: dict[frozenset[tuple[str, str]], list[RawSeries]] = {}
    warnings: dict[str, None] = {}
    for part in parts:
        series, warned = part.answer
        warnings |= dict.fromkeys(warned)
        for one in series:
            found.setdefault(frozenset(one.labels.items()), []).append(one)
    return [
        several[0]
        if len(several) == 1
        else RawSeries(
            several[0].labels,
            np.concatenate([one.times for one in several]),
            np.concatenate([one.values for one in several]),
            sum(one.conflicts for one in several),
        )
        for several in found.values()
    ], tuple(warnings)


def _period(piece: Samples, whole: Samples) -> Period | None:
    """What counts of an answer; of a whole one whoever pairs it cuts it."""
    same = piece.span == whole.span
    return None if same else Period(piece.span.start, piece.span.end)


def _only(label: str, values: Sequence[str]) -> str:
    return f"{label_name(label)}=~{quoted('|'.join(map(escape_regex, values)))}"
