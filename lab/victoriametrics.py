"""A real single-node VictoriaMetrics that scrapes by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .fetch import Tool
from .prometheus import query
from .server import Server


class VictoriaMetrics(Server):
    """A server that scrapes every second unless told otherwise.

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

    def query(self, expression: str, *, at: float | None = None) -> list[Any]:
        """``data.result`` of an instant query, now or at a Unix time."""
        return query(self.url, expression, at=at)
