"""One snapshot and its pages.

A packed page is small, made once and shared by all who ask. A plain page is ten times
as large: it is never held whole, each client gets it as it is made.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterable, Iterator

from .exposition import END, Family, render
from .snapshot import Snapshot

_GZIP = 16 + zlib.MAX_WBITS
# Level 1: a third of the time of level 6 for 15 % more bytes.
_GZIP_LEVEL = 1

Tail = Callable[[bool], bytes]


class Scrape:
    """What one read of one server gave.

    Args:
        families: makes the families of *snapshot*.
    """

    def __init__(
        self, snapshot: Snapshot, families: Callable[[], Iterable[Family]]
    ) -> None:
        self.snapshot = snapshot
        self._families = families
        self._lock = threading.Lock()
        self._packed: dict[bool, bytes] = {}

    def plain(self, *, openmetrics: bool, tail: Tail | None = None) -> Iterator[bytes]:
        """The page, piece by piece.

        Args:
            tail: makes further lines, for a page in OpenMetrics or not.
        """
        yield from render(self._families(), openmetrics=openmetrics)
        if tail is not None:
            yield tail(openmetrics)
        if openmetrics:
            yield END

    def packed(self, *, openmetrics: bool, tail: Tail | None = None) -> bytes:
        """The page in gzip, with the lines that *tail* made for the first who asked."""
        with self._lock:
            if openmetrics not in self._packed:
                packer = zlib.compressobj(_GZIP_LEVEL, wbits=_GZIP)
                pieces = self.plain(openmetrics=openmetrics, tail=tail)
                page = b"".join([*map(packer.compress, pieces), packer.flush()])
                self._packed[openmetrics] = page
            return self._packed[openmetrics]
