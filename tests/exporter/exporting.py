"""An exporter in this process, with its web server on a free loopback port."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import requests

from exporter.cli import settings_from
from exporter.service import Service
from exporter.settings.table import Settings

from .builders import Series, samples, series

ANY_PORT = "--web.listen-address=127.0.0.1:0"
PG_UP = series("pg_up")
# What a busy machine may add to the time of a scrape, seconds; less than the exporter's
# own limit, so that one which ignores the time of the scrape is still late.
BUSY = 5.0


@dataclass(frozen=True, slots=True)
class Exporter:
    """An exporter that is running."""

    url: str

    def get(self, path: str = "/metrics", **headers: str) -> requests.Response:
        """Send one request."""
        return requests.get(f"{self.url}{path}", headers=headers, timeout=15)

    def scrape(
        self, path: str = "/metrics", *, timeout: float = 10.0
    ) -> dict[Series, float]:
        """Scrape as Prometheus does, with its timeout; a TimeoutError if it is late."""
        started = time.monotonic()
        header = {"X-Prometheus-Scrape-Timeout-Seconds": str(timeout)}
        reply = self.get(path, **header)
        if (took := time.monotonic() - started) > timeout + BUSY:
            raise TimeoutError(f"the scrape took {took:.2f} of {timeout:g} s")
        reply.raise_for_status()
        return samples(reply.text)

    def problems(self, *, timeout: float = 10.0) -> set[str]:
        """The reasons of the problems that a scrape shows."""
        return reasons(self.scrape(timeout=timeout))


def reasons(scraped: dict[Series, float]) -> set[str]:
    """Reasons of pgverdict_exporter_problem that are 1."""
    return {
        dict(labels)["reason"]
        for (name, labels), value in scraped.items()
        if name == "pgverdict_exporter_problem" and value
    }


def statement_series(scraped: dict[Series, float]) -> dict[Series, float]:
    """The series about single statements."""
    return {
        (name, labels): value
        for (name, labels), value in scraped.items()
        if "queryid" in dict(labels)
    }


@contextmanager
def exporting(dsn: str, *flags: str) -> Iterator[Exporter]:
    """Run one with command-line flags; texts are off unless a flag turns them on."""
    arguments = ["--dsn", dsn, "--texts.enabled=false", *flags]
    with running(settings_from([*arguments, ANY_PORT], {})) as exporter:
        yield exporter


@contextmanager
def running(settings: Settings) -> Iterator[Exporter]:
    """Run one with *settings*."""
    service = Service(settings)
    service.start()
    try:
        yield Exporter(f"http://{service.address}")
    finally:
        service.stop()
