"""A real Alertmanager without a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .fetch import Tool
from .server import Server


class Alertmanager(Server):
    """A server with the configuration given.

    Args:
        program: `fetch.tool("alertmanager")`.
        config: the whole configuration; see `to_webhook` for the smallest.
    """

    name = "alertmanager"

    def __init__(
        self, program: Tool, config: Mapping[str, Any], *, port: int | None = None
    ) -> None:
        super().__init__(program, port=port)
        self._config = config

    def arguments(self) -> list[str]:
        return [
            f"--config.file={self.write('alertmanager.yml', self._config)}",
            f"--storage.path={self.folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--cluster.listen-address=",
        ]

    def alerts(self) -> list[Any]:
        """The alerts it holds now, as its API shows them."""
        held: list[Any] = self.get("/api/v2/alerts")
        return held


def to_webhook(url: str) -> dict[str, Any]:
    """Send every alert to *url* at once, each in a message of its own."""
    at_once = {"group_by": ["..."], "group_wait": "0s", "group_interval": "1s"}
    return {
        "route": {"receiver": "webhook", "repeat_interval": "1h", **at_once},
        "receivers": [{"name": "webhook", "webhook_configs": [{"url": url}]}],
    }
