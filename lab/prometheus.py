"""A real Prometheus, version 2 or 3: the program decides, the shape is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import requests

from .fetch import Tool
from .server import HTTP_SECONDS, Server


def scrape_job(
    name: str,
    *targets: str,
    labels: Mapping[str, str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """One entry of ``scrape_configs``.

    Args:
        targets: ``host:port`` each.
        labels: target labels.
        options: any other key, for example ``scrape_interval="2s"``.
    """
    static = {"targets": list(targets), "labels": dict(labels or {})}
    return {"job_name": name, "static_configs": [static], **options}


class Prometheus(Server):
    """A server that scrapes and evaluates every second by default.

    Args:
        program: `fetch.tool("prometheus")`, `fetch.debian_tool("prometheus")` or
            `fetch.prometheus_3()`.
        scrape: what to scrape, see `scrape_job`.
        rules: rule files.
        alertmanager: URL that alerts go to.
        interval: of scrapes and of rules.
        flags: more command-line flags.
    """

    name = "prometheus"

    def __init__(
        self,
        program: Tool,
        *,
        scrape: Sequence[Mapping[str, Any]] = (),
        rules: Sequence[Path] = (),
        alertmanager: str | None = None,
        interval: str = "1s",
        flags: Sequence[str] = (),
        port: int | None = None,
    ) -> None:
        super().__init__(program, port=port)
        self.scrape = [dict(job) for job in scrape]
        self.rules = list(rules)
        self._alertmanager = alertmanager
        self._interval = interval
        self._flags = list(flags)

    def arguments(self) -> list[str]:
        config = self.write("prometheus.yml", self._configuration())
        return [
            f"--config.file={config}",
            f"--storage.tsdb.path={self.folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            # It learns of its Alertmanager seconds after the first rules have fired.
            "--rules.alert.resend-delay=2s",
            *self._flags,
        ]

    def _configuration(self) -> dict[str, Any]:
        every = {
            "scrape_interval": self._interval,
            "scrape_timeout": self._interval,
            "evaluation_interval": self._interval,
        }
        whole: dict[str, Any] = {
            "global": every,
            "scrape_configs": self.scrape,
            "rule_files": [str(path.resolve()) for path in self.rules],
        }
        if self._alertmanager is not None:
            host = self._alertmanager.removeprefix("http://")
            managers = [{"static_configs": [{"targets": [host]}]}]
            whole["alerting"] = {"alertmanagers": managers}
        return whole

    def query(self, expression: str, *, at: float | None = None) -> list[Any]:
        """``data.result`` of an instant query, now or at a Unix time."""
        return query(self.url, expression, at=at)

    def value(self, expression: str, *, at: float | None = None) -> float | None:
        """The one value of a query that gives at most one, None where it gives none."""
        results = self.query(expression, at=at)
        if len(results) > 1:
            raise ValueError(f"{expression}: {len(results)} results, one was expected")
        return float(results[0]["value"][1]) if results else None


def query(url: str, expression: str, *, at: float | None = None) -> list[Any]:
    """``data.result`` of an instant query to a server that speaks Prometheus' API."""
    when = {} if at is None else {"time": f"{at:.3f}"}
    answer = requests.post(
        f"{url}/api/v1/query", data={"query": expression, **when}, timeout=HTTP_SECONDS
    )
    answer.raise_for_status()
    results: list[Any] = answer.json()["data"]["result"]
    return results
