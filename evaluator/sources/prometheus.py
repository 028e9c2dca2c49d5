"""Raw counter samples of all queries out of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..errors import IncompleteDataError, NoDataError, SourceError
from ..transport.client import Client
from ..transport.prefetch import prefetched
from ..units import show_time
from .api import PrometheusApi
from .asking.pieces import Span
from .asking.questions import Asking, Part, whole_samples
from .matrix import RawSeries
from .profiles import Profile
from .readings import Reading, join, pair
from .series.batches import Period
from .series.identities import Identity, identities_of

# What may explain a judgement, for messages.
_DETAILS = "rows and blocks of the queries"
# How many times as far a check looks back where too little is found.
_LONG = 16


@dataclass(frozen=True, slots=True)
class Findings:
    """What a look at the last minutes shows.

    Args:
        queries: number of queries that were scraped.
        scrape_interval: median distance of two scrapes, seconds; None when unknown.
        newest_age: age of the newest scrape, seconds; None when there is none.
        warnings: the server's remarks on its own answers.
        problems: a sentence each.
        most_calls: calls per second of the query that is called most.
    """

    queries: int
    scrape_interval: float | None
    newest_age: float | None
    warnings: tuple[str, ...]
    problems: tuple[str, ...]
    most_calls: float = 0.0


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
        if reading.scrape_interval is None:
            # Scraped more seldom, perhaps. If that cannot be asked, it changes nothing.
            with suppress(SourceError):
                reading = self._read(now - _LONG * span, now)
        interval = reading.scrape_interval
        age = None if reading.last is None else now - reading.last
        problems = list(reading.twins)
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
            reading.most_calls,
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
        span, asking = Span(start, end), Asking(self._api, self._profile)
        listed = asking.listed(span, queryids)
        names = [name for name in self._profile.metrics if name in listed.names]
        details = None
        if self._profile.details and detail is not None and detail < end:
            details = Span(detail, end)
        chunks = list(self._chunks(listed.ids))
        readings, raw, notes = [], list[RawSeries](), dict[str, None]()
        warnings = listed.warnings
        for part in prefetched(asking.parts(chunks, names, span, details)):
            if part.is_detail:
                explaining, noted = _details(part)
                raw += explaining
                notes |= dict.fromkeys(noted)
            else:
                series, more = part.series()
                raw += series
                warnings += more
            if part.ends_chunk:
                readings.append(pair(raw, self._profile, start, end, self._client.name))
                raw = []
        gauges = [name for name in self._profile.identity if name in listed.names]
        answered, noted = self._identities(gauges, span)
        notes |= dict.fromkeys(noted)
        return join(readings, warnings, notes, answered)

    def _identities(
        self, names: Sequence[str], span: Span
    ) -> tuple[dict[str, tuple[Identity, ...]], list[str]]:
        """Which server answered when, and notes on what is not known of it."""
        if not names:
            return {}, []
        what = "whether another server answered"
        try:
            series, warnings = whole_samples(self._api, names, span)
        except SourceError as error:
            return {}, [f"{what} is not known: {error}"]
        period = Period(span.start, span.end)
        found = identities_of(map(period.within, series), self._profile)
        return found, [f"{what}: {warning}" for warning in warnings]

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


def _details(part: Part) -> tuple[list[RawSeries], list[str]]:
    """Series that only explain, and notes on what is not known of them."""
    if part.problem:
        return [], [f"{_DETAILS} are not known: {part.problem}"]
    try:
        series, warnings = part.series()
    except SourceError as error:
        return [], [f"{_DETAILS} are not known: {error}"]
    return series, [f"{_DETAILS}: {warning}" for warning in warnings]
