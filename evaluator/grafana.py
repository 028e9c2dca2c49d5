"""Annotations in Grafana by its legacy HTTP API; nothing outside knows which API it is.

References:
    Grafana documentation, HTTP API: Annotations. What it does not say (limits, the
    counting tag filter, the order of results) is explained where it matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from .errors import IncompleteDataError, RefusedError, SourceError, UnsureWriteError
from .transport.client import Client, Params

PATH = "/api/annotations"
# Milliseconds of 2001-09-09. A smaller number is a time in seconds, which Grafana would
# put in 1970.
EARLIEST = 1_000_000_000_000


@dataclass(frozen=True, slots=True)
class Annotation:
    """A mark on the time line; start and end in Unix seconds, equal for a point.

    ``tags`` are as stored: trimmed, and cut at a second colon.
    """

    id: int
    start: float
    end: float
    text: str = ""
    tags: tuple[str, ...] = ()

    def has(self, tag: str) -> bool:
        """Whether it bears *tag*: ``key`` with any value, or ``key:value``."""
        key, value = split_tag(tag)
        return any(
            own_key == key and value in ("", own_value)
            for own_key, own_value in map(split_tag, self.tags)
        )


def split_tag(tag: str) -> tuple[str, str]:
    """Key and value as Grafana reads a tag: what follows a second colon is lost."""
    key, _, rest = tag.partition(":")
    return key.strip(), rest.split(":")[0].strip()


class _Row(msgspec.Struct):
    # Only these are certain; other fields come and go with the version.
    id: int
    time: int | None = None
    end: int | None = msgspec.field(default=None, name="timeEnd")
    text: str | None = None
    tags: list[str] | None = None


class _Created(msgspec.Struct):
    id: int


class Grafana:
    """Finds and makes annotations of the whole organisation.

    Args:
        limit: how many to ask for at once; without one Grafana silently returns at most
            100.
    """

    def __init__(self, client: Client, limit: int = 1000) -> None:
        self._client = client
        self._limit = limit

    def find(self, start: float, end: float, tags: Sequence[str]) -> list[Annotation]:
        """All annotations that overlap the time and bear at least one of *tags*.

        Args:
            start, end: Unix seconds, both above 0.

        Returns:
            Oldest first.

        Raises:
            SourceError: no usable answer.
            IncompleteDataError: there are more than can be listed.
        """
        seen: dict[int, Annotation] = {}
        until = math.ceil(end * 1000)
        while True:
            page = [_annotation(row) for row in self._page(start, until, tags)]
            new = {row.id: row for row in page if row.id not in seen}
            seen |= new
            if len(page) < self._limit:
                break
            if not new:
                raise IncompleteDataError(
                    f"{self._client.place}: more than {self._limit} "
                    f"annotations with {' or '.join(tags)} at one time; choose a tag "
                    "that fewer have"
                )
            # There is no cursor: results come by their end, the latest first.
            until = min(until, *(round(row.end * 1000) for row in page))
        # Some servers filter less.
        wanted = [row for row in seen.values() if any(map(row.has, tags))]
        return sorted(wanted, key=lambda row: (row.start, row.id))

    def create(self, start: float, end: float, text: str, tags: Iterable[str]) -> int:
        """Make an annotation of the organisation, a region from *start* to *end*.

        Returns:
            Its id.

        Raises:
            SourceError: it was not made.
            UnsureWriteError: it is not known whether it was made.
        """
        first, last = round(start * 1000), round(end * 1000)
        if not EARLIEST <= first <= last:
            raise ValueError(f"not the times of an annotation: {start} to {end} s")
        body = {"time": first, "timeEnd": last, "text": text, "tags": list(tags)}
        answer = self._client.post_json(PATH, body)
        try:
            return answer.json(_Created).id
        except SourceError as error:
            raise UnsureWriteError(str(error)) from error

    def may_write(self) -> bool:
        """Whether the token may make annotations; makes none.

        Raises:
            SourceError: no usable answer.
        """
        try:
            # Permission is checked first; then the empty text is refused.
            self._client.post_json(PATH, {"text": ""})
        except RefusedError as error:
            if error.status in (400, 403):
                return error.status == 400
            raise
        raise SourceError(
            f"{self._client.place}: accepted an annotation without text, "
            "which Grafana refuses; is this Grafana?"
        )

    def _page(self, start: float, until: int, tags: Sequence[str]) -> list[_Row]:
        parameters: Params = [
            # The time counts only when both are above 0.
            ("from", str(max(1, math.floor(start * 1000)))),
            ("to", str(max(1, until))),
            ("limit", str(self._limit)),
            ("type", "annotation"),
            # Grafana's all-of filter counts the matching tags of an annotation, so that
            # "deploy" misses one with "deploy" and "deploy:canary". Any-of misses none.
            ("matchAny", "true"),
            *(("tags", tag) for tag in tags),
        ]
        return self._client.get(PATH, parameters).json(list[_Row])


def _annotation(row: _Row) -> Annotation:
    start = (row.time or 0) / 1000
    end = (row.end or row.time or 0) / 1000
    return Annotation(
        row.id, min(start, end), max(start, end), row.text or "", tuple(row.tags or ())
    )
