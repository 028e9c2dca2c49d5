"""Time-lapse: pages of an exporter taken in rounds, dated as if scraped every 15 s.

An hour of a real PostgreSQL passes in seconds, and the same on any machine: between two
pages lies a round of work, not a stretch of time.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import requests

from .process import PATIENCE

STEP = 15.0  # from one scrape to the next, seconds
_OPENMETRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}
# Gauges that hold a moment as Unix time.
_MOMENT = re.compile(r"\w+_(since|start_time|stats_reset)_seconds\b")


class Scrapes:
    """What Prometheus would have scraped from one target, one page a round.

    Args:
        job: the label ``job``.
        url: of the page.
        labels: more target labels; without ``instance`` it is the job's name.
    """

    def __init__(
        self, job: str, url: str, labels: Mapping[str, str] | None = None
    ) -> None:
        self.job = job
        self.url = url
        self._labels = {"job": job, "instance": job, **(labels or {})}
        self._taken: list[float] = []
        self._pages: list[str | None] = []

    def take(self) -> str:
        """Scrape once; the page, empty where nobody answers.

        Raises:
            HTTPError: the target answers with an error.
        """
        self._taken.append(time.time())
        try:
            page = requests.get(self.url, headers=_OPENMETRICS, timeout=PATIENCE)
        except requests.ConnectionError:
            self._pages.append(None)
            return ""
        page.raise_for_status()
        self._pages.append(page.text)
        return page.text

    def samples(self, end: float) -> Iterator[tuple[str, str, float]]:
        """Series, value and time of each sample; the last page is from *end*.

        Moments on a page, such as that of a start, are moved to where they lie between
        the pages.
        """
        times = [end - STEP * ago for ago in reversed(range(len(self._pages)))]
        labels = ",".join(f'{name}="{value}"' for name, value in self._labels.items())
        for at, page in zip(times, self._pages, strict=True):
            yield f"up{{{labels}}}", "0" if page is None else "1", at
            for line in (page or "").splitlines():
                if line.startswith("#"):
                    continue
                series, value = line.rsplit(" ", 1)
                name, _, own = series.removesuffix("}").partition("{")
                if _MOMENT.match(name):
                    value = self._moved(float(value), times)
                yield f"{name}{{{labels}{',' if own else ''}{own}}}", value, at

    def _moved(self, moment: float, times: Sequence[float]) -> str:
        before = min(0.0, moment - self._taken[0])
        return repr(before + float(np.interp(moment, self._taken, times)))


def openmetrics(scrapes: Sequence[Scrapes], end: float) -> str:
    """All samples as `history.backfill` takes them; the last ones are from *end*."""
    return _text(scrapes, end, lambda at: f"{at:.3f}") + "# EOF\n"


def with_milliseconds(scrapes: Sequence[Scrapes], end: float) -> str:
    """The same as `history.import_samples` takes them."""
    return _text(scrapes, end, lambda at: f"{at * 1000:.0f}")


def _text(scrapes: Sequence[Scrapes], end: float, date: Callable[[float], str]) -> str:
    """One metric after the other."""
    lines: dict[str, list[str]] = defaultdict(list)
    for target in scrapes:
        for series, value, at in target.samples(end):
            metric = series.partition("{")[0]
            lines[metric].append(f"{series} {value} {date(at)}\n")
    return "".join(line for metric in lines.values() for line in metric)
