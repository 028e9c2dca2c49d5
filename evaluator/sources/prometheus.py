"""Raw counter samples of all queries out of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import IncompleteDataError, NoDataError, SourceError
from ..transport.client import Client
from ..units import show_time
from .api import PrometheusApi, escape_regex, quoted
from .matrix import RawSeries
from .profiles import Profile
from .readings import Reading, join, pair


@dataclass(frozen=True, slots=True)
class Findings:
    """What a look at the last minutes shows.

    Args:
        queries: number of queries that were scraped.
        scrape_interval: median distance of two scrapes, seconds; None when unknown.
        newest_age: age of the newest scrape, seconds; None when there is none.
        warnings: what the server said about its own answers.
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
        self, start: float, end: float, *, detail_from: float | None = None
    ) -> Reading:
        """The counters at the scrapes with start ≤ time ≤ end, Unix seconds.

        Warnings of the server are in the reading: with any, it is partial.

        Args:
            detail_from: rows and blocks are read from here on; None: from *start*.

        Raises:
            SourceError: no usable answer, or ambiguous series.
            NoDataError: no series.
            IncompleteDataError: no series, but a warning.
        """
        detail = start if detail_from is None else max(start, detail_from)
        reading = self._read(start, end, detail)
        if not reading.series:
            nothing = (
                f"{self._client.place}: no sample of "
                f"{' or '.join(map(self._api.chosen, self._profile.counters))} between "
                f"{show_time(start)} and {show_time(end)}"
            )
            if told := "; ".join(reading.quality.warnings):
                raise IncompleteDataError(
                    f"{nothing}, and the answer is partial: {told}"
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
        steps = [np.diff(one.times) for one in reading.series if one.times.size > 1]
        interval = float(np.median(np.concatenate(steps))) if steps else None
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

    def _read(self, start: float, end: float, detail: float | None = None) -> Reading:
        if not start < end:
            raise ValueError(f"the end {end} is not after the start {start}")
        labels, warnings = self._api.labels(self._profile.metrics, start, end)
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
        details = _Details(self._api, self._profile, detail, end)
        readings = []
        for chunk in _chunks(ids, self._chunk * len(self._profile.counters)):
            only = _only(self._profile.queryid, chunk)
            raw: list[RawSeries] = []
            for name in names:
                selector = self._api.chosen(name, only)
                series, more = self._api.samples(selector, start, end)
                raw += series
                warnings += more
            raw += details.read(only)
            readings.append(pair(raw, self._profile, start, end, self._client.name))
        return join(readings, warnings, details.notes)


class _Details:
    """Reads what may explain a judgement; a failure is noted once and ends it."""

    def __init__(
        self, api: PrometheusApi, profile: Profile, start: float | None, end: float
    ) -> None:
        self._api = api
        self._pattern = "|".join(map(escape_regex, profile.details))
        self._start = start
        self._end = end
        self.notes: tuple[str, ...] = ()

    def read(self, only: str) -> list[RawSeries]:
        if not self._pattern or self._start is None or self._start >= self._end:
            return []
        selector = self._api.chosen("", f"__name__=~{quoted(self._pattern)}", only)
        try:
            series, warnings = self._api.samples(selector, self._start, self._end)
        except SourceError as error:
            self._start = None
            self.notes += (f"rows and blocks of the queries are not known: {error}",)
            return []
        self.notes += tuple(f"rows and blocks of the queries: {w}" for w in warnings)
        return series


def _only(label: str, values: list[str]) -> str:
    return f"{label}=~{quoted('|'.join(map(escape_regex, values)))}"


def _chunks(ids: Counter[str], size: int) -> Iterator[list[str]]:
    """Query ids in groups of about *size* series, each id in one group."""
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
