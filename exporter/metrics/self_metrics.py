"""Metrics about the exporter itself, kept by prometheus_client; few series."""

from __future__ import annotations

import platform
from importlib.metadata import version

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.openmetrics.exposition import (
    generate_latest as openmetrics_page,
)

from .exposition import END

DISTRIBUTION = "pgverdict"


class SelfMetrics:
    """Build, process, and the number of scrapes by result."""

    def __init__(self) -> None:
        # Otherwise each counter has a second series: when the process started.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        build = Gauge(
            "pgverdict_exporter_build_info",
            "Always 1: versions of the exporter and of Python.",
            ("version", "python"),
            registry=self._registry,
        )
        build.labels(version(DISTRIBUTION), platform.python_version()).set(1)
        self._scrapes = Counter(
            "pgverdict_exporter_scrapes",
            "Scrapes answered, by target and whether PostgreSQL answered (up).",
            ("target", "up"),
            registry=self._registry,
        )

    def scraped(self, target: str, *, up: bool) -> None:
        """Count one scrape."""
        self._scrapes.labels(target, "true" if up else "false").inc()

    def page(self, openmetrics: bool) -> bytes:  # noqa: FBT001 - a Tail
        """All of them as text, without the final line of OpenMetrics."""
        if openmetrics:
            page: bytes = openmetrics_page(self._registry)  # type: ignore[no-untyped-call]
            return page.removesuffix(END)
        return generate_latest(self._registry)
