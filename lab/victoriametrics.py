"""A real single-node VictoriaMetrics that scrapes by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import requests

from .fetch import Tool
from .process import wait_until
from .prometheus import query
from .server import HTTP_SECONDS, Server


class VictoriaMetrics(Server):
    """A server that scrapes every second by default.

    Args:
        program: `fetch.tool("victoria-metrics")`.
        scrape: what to scrape, see `prometheus.scrape_job`.
        interval: of scrapes.
        flags: more command-line flags.
    """

    name = "victoria-metrics"
    ready_path = "/health"

    def __init__(
        self,
        program: Tool,
        *,
        scrape: Sequence[Mapping[str, Any]] = (),
        interval: str = "1s",
        flags: Sequence[str] = (),
        port: int | None = None,
    ) -> None:
        super().__init__(program, port=port)
        self.scrape = [dict(job) for job in scrape]
        self._interval = interval
        self._flags = list(flags)

    def arguments(self) -> list[str]:
        every = {"scrape_interval": self._interval, "scrape_timeout": self._interval}
        config = {"global": every, "scrape_configs": self.scrape}
        return [
            f"-promscrape.config={self.write('scrape.yml', config)}",
            f"-storageDataPath={self.folder / 'data'}",
            f"-httpListenAddr=127.0.0.1:{self.port}",
            # Else it claims more than half of the machine's memory for its caches.
            "-memory.allowedBytes=256MB",
            *self._flags,
        ]

    def wait_for_scrape(self) -> None:
        """Wait until samples of a scrape are stored and can be asked for.

        Before that nobody should ask: it remembers for ten seconds that a filter
        matched nothing.
        """
        for what in ("a first scrape", "a second, after which the first is stored"):
            known = self._scraped()
            wait_until(lambda known=known: self._scraped() > known, what=what)  # type: ignore[misc]
        self.show()

    def show(self) -> None:
        """Let the next query find all that has been stored."""
        answer = requests.get(f"{self.url}/internal/force_flush", timeout=HTTP_SECONDS)
        answer.raise_for_status()

    def _scraped(self) -> int:
        """Number of samples."""
        page = requests.get(f"{self.url}/metrics", timeout=HTTP_SECONDS).text
        stored = re.search(
            r'^vm_rows_inserted_total{type="promscrape"} (\d+)$', page, re.MULTILINE
        )
        return int(stored[1]) if stored else 0

    def query(self, expression: str, *, at: float | None = None) -> list[Any]:
        """``data.result`` of an instant query, now or at a Unix time."""
        return query(self.url, expression, at=at)
