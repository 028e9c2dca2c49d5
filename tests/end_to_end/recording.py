"""What recordings share: shops that are watched, and what is stored about them."""

from __future__ import annotations

import time
from collections.abc import Mapping

import requests

from lab import shop
from lab.postgres import Postgres
from lab.process import wait_until
from lab.programs import Exporter
from lab.prometheus import query
from lab.workload import create_shop

# Statements that no fault of the measurement makes slower for long, as it would the
# much shorter one that loses its index.
FEW = shop.STATEMENTS[1:7]
MONITOR, PASSWORD = "pgverdict", "pgverdict"


def open_shop(server: Postgres) -> None:
    """Make the shop's database, and the exporter's role."""
    create_shop(server)
    role = f"CREATE ROLE {MONITOR} LOGIN PASSWORD '{PASSWORD}'"
    server.execute(f"{role} IN ROLE pg_monitor")


def sleep_until(moment: float) -> None:
    """Return at a Unix time, at once if it has passed."""
    time.sleep(max(0.0, moment - time.time()))


def wait_for_samples(
    backends: Mapping[str, str], exporters: Mapping[str, Exporter], *, after: float
) -> None:
    """Wait until each backend shows a scrape of each job that began after *after*."""
    for name, url in backends.items():
        for job, exporter in exporters.items():
            try:
                wait_until(
                    lambda url=url, job=job: newest(url, job) > after,  # type: ignore[misc]
                    seconds=30,
                    what=f"{name} shows a new scrape of {job}",
                )
            except TimeoutError as error:
                raise AssertionError(
                    f"{error}\n{exporter.process.tail()}\n{page(exporter.url)}"
                ) from error


def newest(url: str, job: str) -> float:
    """Time of the newest scrape of *job* that found PostgreSQL up, or 0."""
    return max((at for at, up in samples(url, "pg_up", job) if up), default=0.0)


def samples(url: str, metric: str, job: str) -> list[tuple[float, float]]:
    """Time and value of each sample of *metric*, which has one series."""
    series = stored(url, metric, job)
    return series[0][1] if series else []


def stored(
    url: str, metric: str, job: str
) -> list[tuple[dict[str, str], list[tuple[float, float]]]]:
    """Labels, and times and values, of each series as it is stored.

    VictoriaMetrics also answers its marks of where a series paused; they are no values.
    """
    return [
        (
            series["metric"],
            [(float(at), float(v)) for at, v in series["values"] if v != "NaN"],
        )
        for series in query(url, f'{metric}{{job="{job}"}}[10m]')
    ]


def page(url: str) -> str:
    """What the exporter says now."""
    answer = requests.get(f"{url}/metrics", timeout=10)
    answer.raise_for_status()
    return answer.text
