"""One snapshot and its pages.

A compressed page is small, made once and shared by all clients. A plain page is ten
times as large: it is never held as a whole, each client gets it piece by piece.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterable, Iterator

from .metrics.exposition import END, Family, render
from .values.snapshot import Snapshot

_GZIP = 16 + zlib.MAX_WBITS
# Level 1: a third of the time of level 6 for 15 % more bytes.
_GZIP_LEVEL = 1

Tail = Callable[[bool], bytes]


class Scrape:
    """The result of one read of one server.

    Args:
        families: makes the families of *snapshot*.
    """

    def __init__(
        self, snapshot: Snapshot, families: Callable[[], Iterable[Family]]
    ) -> None:
        self.snapshot = snapshot
        self._families = families
        self._lock = threading.Lock()
        self._compressed: dict[bool, bytes] = {}

    def plain(self, *, openmetrics: bool, tail: Tail | None = None) -> Iterator[bytes]:
        """The page, piece by piece.

        Args:
            tail: makes further lines, in OpenMetrics if its argument is true.
        """
        yield from render(self._families(), openmetrics=openmetrics)
        if tail is not None:
            yield tail(openmetrics)
        if openmetrics:
            yield END

    def compressed(self, *, openmetrics: bool, tail: Tail | None = None) -> bytes:
        """The page in gzip, with the lines that *tail* made for the first client."""
        with self._lock:
            if openmetrics not in self._compressed:
                packer = zlib.compressobj(_GZIP_LEVEL, wbits=_GZIP)
                pieces = self.plain(openmetrics=openmetrics, tail=tail)
                page = b"".join([*map(packer.compress, pieces), packer.flush()])
                self._compressed[openmetrics] = page
            return self._compressed[openmetrics]
