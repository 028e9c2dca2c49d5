"""Raw counter samples out of Prometheus, and what else answers its HTTP API.

A range selector in ``/api/v1/query`` gives the samples as they were scraped;
``query_range`` would resample them on a grid.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np

from ..errors import SourceError
from ..http import Client, Params
from ..units import show_time
from .matrix import RawSeries, decode_matrix, open_envelope
from .profiles import Profile
from .readings import Reading, join, pair, quoted

# Prometheus 2 takes a sample at the left edge of a range, Prometheus 3 does not. So
# more is asked for and cut here.
MARGIN = 1.0
# Thanos leaves out stores that are down unless told otherwise, and may answer
# downsampled data; servers that do not know these parameters ignore them.
_WHOLE_AND_RAW = (("partial_response", "false"), ("max_source_resolution", "0s"))


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
        self._profile = profile
        self._selector = selector.strip("{}, \t\n")
        self._chunk = chunk

    def read(self, start: float, end: float) -> Reading:
        """The counters at the scrapes with start ≤ time ≤ end, Unix seconds.

        Warnings of the server are in the reading: with any, it is partial.

        Raises:
            SourceError: no usable answer, no series, or ambiguous ones.
        """
        reading = self._read(start, end)
        if not reading.series:
            raise SourceError(
                f"{self._client.place}: no sample of "
                f"{' or '.join(map(self._chosen, self._counters))} between "
                f"{show_time(start)} and {show_time(end)}; is it scraped, kept that "
                "long, and is the selector right?"
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
                f"fewer than two scrapes of {self._chosen(self._profile.calls)} in the "
                f"last {span:.0f} s"
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

    @property
    def _counters(self) -> tuple[str, str]:
        return self._profile.calls, self._profile.seconds

    def _read(self, start: float, end: float) -> Reading:
        if not start < end:
            raise ValueError(f"the end {end} is not after the start {start}")
        labels, warnings = self._list(start, end)
        names = [
            name
            for name in self._profile.metrics
            if any(one.get("__name__") == name for one in labels)
        ]
        ids = Counter(
            one.get(self._profile.queryid, "")
            for one in labels
            if one.get("__name__") in self._counters
        )
        readings = []
        for chunk in _chunks(ids, self._chunk * len(self._counters)):
            raw: list[RawSeries] = []
            for name in names:
                series, more = self._samples(name, chunk, start, end)
                raw += series
                warnings += more
            readings.append(pair(raw, self._profile, start, end, self._client.name))
        return join(readings, warnings)

    def _list(
        self, start: float, end: float
    ) -> tuple[list[dict[str, str]], tuple[str, ...]]:
        """The labels of all series that may have samples between the two times."""
        answer = self._client.post_form(
            "/api/v1/series",
            [
                *(("match[]", self._chosen(name)) for name in self._profile.metrics),
                ("start", f"{start - MARGIN:.3f}"),
                ("end", f"{end + MARGIN:.3f}"),
                *_WHOLE_AND_RAW,
            ],
        )
        data, warnings = open_envelope(answer)
        try:
            return msgspec.json.decode(data, type=list[dict[str, str]]), warnings
        except msgspec.ValidationError as error:
            raise answer.error(f"series of an unexpected shape ({error})") from error

    def _samples(
        self, name: str, queryids: list[str], start: float, end: float
    ) -> tuple[list[RawSeries], tuple[str, ...]]:
        pattern = "|".join(map(escape_regex, queryids))
        selector = self._chosen(name, f"{self._profile.queryid}=~{quoted(pattern)}")
        margin = round(MARGIN * 1000)
        first, last = round(start * 1000) - margin, round(end * 1000) + margin
        parameters: Params = [
            ("query", f"{selector}[{last - first}ms]"),
            ("time", f"{last / 1000:.3f}"),
            *_WHOLE_AND_RAW,
        ]
        return decode_matrix(self._client.post_form("/api/v1/query", parameters))

    def _chosen(self, name: str, *more: str) -> str:
        return f"{name}{{{','.join(filter(None, (self._selector, *more)))}}}"


def escape_regex(text: str) -> str:
    """*text* as an RE2 pattern that matches just it (as Go's regexp.QuoteMeta)."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", text)


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
