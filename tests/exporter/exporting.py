"""An exporter in this process, with its web server on a free loopback port."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import requests

from exporter.cli import settings_from, target_settings
from exporter.server import WebServer
from exporter.target import Target
from exporter.web import Application

from .builders import Series, samples, series

PG_UP = series("pg_up")


@dataclass(frozen=True, slots=True)
class Exporter:
    """One that runs."""

    url: str
    target: Target

    def get(self, path: str = "/metrics", **headers: str) -> requests.Response:
        """Ask; a second is more than any answer here may need beyond its deadline."""
        return requests.get(f"{self.url}{path}", headers=headers, timeout=15)

    def scrape(self, *, timeout: float = 10.0) -> dict[Series, float]:
        """Scrape as Prometheus does, with its timeout; a TimeoutError if it is late."""
        started = time.monotonic()
        header = {"X-Prometheus-Scrape-Timeout-Seconds": str(timeout)}
        reply = self.get(**header)
        if (took := time.monotonic() - started) > timeout:
            raise TimeoutError(f"the scrape took {took:.2f} of {timeout:g} s")
        reply.raise_for_status()
        return samples(reply.text)

    def problems(self, *, timeout: float = 10.0) -> set[str]:
        """Reasons that a scrape names."""
        return reasons(self.scrape(timeout=timeout))


def reasons(found: dict[Series, float]) -> set[str]:
    """Reasons of pgverdict_exporter_problem that are 1."""
    return {
        dict(labels)["reason"]
        for (name, labels), value in found.items()
        if name == "pgverdict_exporter_problem" and value
    }


def statement_series(found: dict[Series, float]) -> dict[Series, float]:
    """What is about single statements."""
    return {
        (name, labels): value
        for (name, labels), value in found.items()
        if "queryid" in dict(labels)
    }


@contextmanager
def exporting(dsn: str, *flags: str) -> Iterator[Exporter]:
    """Run one with the flags of the command line; texts are off unless asked for."""
    settings = settings_from(["--dsn", dsn, "--texts.enabled=false", *flags], {})
    assert settings.dsn is not None
    target = Target("default", settings.dsn, target_settings(settings))
    application = Application(target, offset=settings.scrape_timeout_offset)
    server = WebServer(application, ("127.0.0.1", 0), on_grace_over=target.close)
    server.start()
    target.start()
    try:
        yield Exporter(f"http://{server.address}", target)
    finally:
        target.close()
        server.stop()
