"""Raw counter samples of all queries out of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import IncompleteDataError, NoDataError, SourceError
from ..transport.answers import Answer
from ..transport.client import Client
from ..transport.prefetch import prefetched
from ..units import show_time
from .api import PrometheusApi, escape_regex, quoted
from .matrix import RawSeries, decode_matrix
from .profiles import Profile
from .readings import Reading, join, pair

# What may explain a judgement, for messages.
_DETAILS = "rows and blocks of the queries"


@dataclass(frozen=True, slots=True)
class Findings:
    """What a look at the last minutes shows.

    Args:
        queries: number of queries that were scraped.
        scrape_interval: median distance of two scrapes, seconds; None when unknown.
        newest_age: age of the newest scrape, seconds; None when there is none.
        warnings: the server's remarks on its own answers.
        problems: a sentence each.
    """

    queries: int
    scrape_interval: float | None
    newest_age: float | None
    warnings: tuple[str, ...]
    problems: tuple[str, ...]


class PrometheusSource:
    """Reads the counters of all queries between two times.

    Args:
        profile: what the metrics and labels are called.
        selector: label matchers that choose the series, as in PromQL, without braces.
        chunk: how many queries to ask for at once.
    """

    def __init__(
        self, client: Client, profile: Profile, selector: str = "", chunk: int = 200
    ) -> None:
        self._client = client
        self._api = PrometheusApi(client, selector)
        self._profile = profile
        self._chunk = chunk

    def read(
        self,
        start: float,
        end: float,
        *,
        detail_from: float | None = None,
        queryids: Collection[str] = (),
    ) -> Reading:
        """The counters at the scrapes with start ≤ time ≤ end, Unix seconds.

        Warnings of the server are in the reading: with any, it is partial.

        Args:
            detail_from: rows and blocks are read from here on; None: from *start*.
            queryids: read these queries only; empty: all.

        Raises:
            SourceError: no usable answer, or ambiguous series.
            NoDataError: no series.
            IncompleteDataError: no series, but a warning.
        """
        detail = start if detail_from is None else max(start, detail_from)
        reading = self._read(start, end, detail, queryids)
        if not reading.batches:
            nothing = (
                f"{self._client.place}: no sample of "
                f"{' or '.join(map(self._api.chosen, self._profile.counters))} between "
                f"{show_time(start)} and {show_time(end)}"
            )
            if warned := "; ".join(reading.quality.warnings):
                raise IncompleteDataError(
                    f"{nothing}, and the answer is partial: {warned}"
                )
            raise NoDataError(
                f"{nothing}; is it scraped, kept that long, and is the selector right?"
            )
        return reading

    def check(self, now: float, span: float = 900.0) -> Findings:
        """Look at the *span* seconds before *now*.

        Raises:
            SourceError: no usable answer, or ambiguous series.
        """
        reading = self._read(now - span, now)
        interval = _scrape_interval(reading)
        age = None if reading.last is None else now - reading.last
        problems = []
        if age is None or interval is None:
            problems.append(
                "fewer than two scrapes of "
                f"{self._api.chosen(self._profile.calls)} in the last {span:.0f} s; is "
                "the exporter scraped, and is the selector right?"
            )
        elif age > max(60.0, 3 * interval):
            problems.append(
                f"the newest sample is {age:.0f} s old at a scrape interval of "
                f"{interval:.0f} s: scraping has stopped, or the clocks differ"
            )
        return Findings(
            reading.quality.series,
            interval,
            age,
            reading.quality.warnings,
            tuple(problems),
        )

    def _read(
        self,
        start: float,
        end: float,
        detail: float | None = None,
        queryids: Collection[str] = (),
    ) -> Reading:
        if not start < end:
            raise ValueError(f"the end {end} is not after the start {start}")
        only = [_only(self._profile.queryid, sorted(queryids))] if queryids else []
        labels, warnings = self._api.labels(self._profile.metrics, start, end, *only)
        names = [
            name
            for name in self._profile.metrics
            if any(one.get("__name__") == name for one in labels)
        ]
        ids = Counter(
            one.get(self._profile.queryid, "")
            for one in labels
            if one.get("__name__") in self._profile.counters
        )
        parts = self._parts(list(self._chunks(ids)), names, start, end, detail)
        readings, raw, notes = [], list[RawSeries](), dict[str, None]()
        for part in prefetched(parts):
            if part.is_detail:
                details, noted = _details(part)
                raw += details
                notes |= dict.fromkeys(noted)
            elif part.answer is not None:
                series, more = decode_matrix(part.answer)
                raw += series
                warnings += more
            if part.ends_chunk:
                readings.append(pair(raw, self._profile, start, end, self._client.name))
                raw = []
        return join(readings, warnings, notes)

    def _parts(
        self,
        chunks: Sequence[Sequence[str]],
        names: Sequence[str],
        start: float,
        end: float,
        detail: float | None,
    ) -> Iterator[_Part]:
        """Ask for the samples, one metric of one chunk after the other.

        What may explain a judgement is asked for last; a failure ends that and is noted
        once.
        """
        pattern = "|".join(map(escape_regex, self._profile.details))
        wanted = bool(pattern) and detail is not None and detail < end
        for chunk in chunks:
            only = _only(self._profile.queryid, chunk)
            for name in names:
                selector = self._api.chosen(name, only)
                last = name == names[-1] and not wanted
                yield _Part(
                    self._api.samples_answer(selector, start, end), ends_chunk=last
                )
            if not wanted or detail is None:
                continue
            selector = self._api.chosen("", f"__name__=~{quoted(pattern)}", only)
            try:
                answer = self._api.samples_answer(selector, detail, end)
            except SourceError as error:
                wanted = False
                yield _Part(None, ends_chunk=True, is_detail=True, problem=str(error))
            else:
                yield _Part(answer, ends_chunk=True, is_detail=True)

    def _chunks(self, ids: Counter[str]) -> Iterator[list[str]]:
        """Query ids in groups of about as many series, each id in one group."""
        size = self._chunk * len(self._profile.counters)
        chunk: list[str] = []
        held = 0
        for queryid, series in sorted(ids.items()):
            if chunk and held + series > size:
                yield chunk
                chunk, held = [], 0
            chunk.append(queryid)
            held += series
        if chunk:
            yield chunk


@dataclass(frozen=True, slots=True)
class _Part:
    """One answer of many, or why there is none.

    Args:
        ends_chunk: whether all of the queries asked for together have been answered.
        is_detail: whether it only explains.
    """

    answer: Answer | None
    ends_chunk: bool
    is_detail: bool = False
    problem: str = ""


def _details(part: _Part) -> tuple[list[RawSeries], list[str]]:
    """Series that only explain, and notes on what is not known of them."""
    if part.answer is None:
        return [], [f"{_DETAILS} are not known: {part.problem}"]
    try:
        series, warnings = decode_matrix(part.answer)
        return list(series), [f"{_DETAILS}: {warning}" for warning in warnings]
    except SourceError as error:
        return [], [f"{_DETAILS} are not known: {error}"]


def _only(label: str, values: Sequence[str]) -> str:
    return f"{label}=~{quoted('|'.join(map(escape_regex, values)))}"


def _scrape_interval(reading: Reading) -> float | None:
    """Median distance of two scrapes of a query, seconds; None without any."""
    steps = [
        np.diff(batch.times[kept])
        for batch in reading.batches
        for kept in batch.present
        if np.count_nonzero(kept) > 1
    ]
    return float(np.median(np.concatenate(steps))) if steps else None
