"""A server that is at rest, scraped by three kinds of servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from lab import fetch
from lab.postgres import MONITOR, Postgres
from lab.process import wait_until
from lab.programs import Exporter
from lab.prometheus import Prometheus, query, scrape_job
from lab.victoriametrics import VictoriaMetrics

from . import known
from .known import Known, Row, Statement


@dataclass(frozen=True, slots=True)
class Quiet:
    """A server that counts nothing more but its exporter's own statements.

    Args:
        exporter: URL.
        backends: URLs of servers that scrape it, by name.
        calls: of the known statements.
        rows: of pg_stat_statements, after the last statement.
    """

    exporter: str
    backends: Mapping[str, str]
    calls: Mapping[Known, int]
    rows: Mapping[Statement, Row]


@pytest.fixture(scope="package")
def quiet() -> Iterator[Quiet]:
    with ExitStack() as stack:
        postgres = stack.enter_context(
            Postgres(settings={"pg_stat_statements.track": "all"})
        )
        postgres.create_monitor()
        known.create(postgres)
        exporter = stack.enter_context(Exporter(postgres.dsn_for(MONITOR)))
        scrape = [scrape_job("quiet", f"127.0.0.1:{exporter.port}")]
        servers: dict[str, Prometheus | VictoriaMetrics] = {
            "prometheus-2": Prometheus(fetch.debian_tool("prometheus"), scrape=scrape),
            "victoria-metrics": VictoriaMetrics(
                fetch.tool("victoria-metrics"), scrape=scrape
            ),
        }
        if fetch.go() is not None:
            servers["prometheus-3"] = Prometheus(fetch.prometheus_3(), scrape=scrape)
        calls = known.run(postgres)
        rows = known.rows(postgres)
        for server in servers.values():
            stack.enter_context(server)
        for server in servers.values():
            if isinstance(server, VictoriaMetrics):
                server.wait_for_scrape()
            wait_until(
                lambda url=server.url: newest(url, "pg_up") == 1,  # type: ignore[misc]
                what=f"{server.name} shows a scrape",
            )
        backends = {name: server.url for name, server in servers.items()}
        yield Quiet(exporter.url, backends, calls, rows)


def stored(url: str, metric: str) -> list[tuple[dict[str, str], list[float]]]:
    """Labels and values of each series as it is stored."""
    return [
        (series["metric"], [float(value) for _, value in series["values"]])
        for series in query(url, f'{metric}{{job="quiet"}}[10m]')
    ]


def newest(url: str, metric: str) -> float | None:
    """The newest value of the only series of *metric*, None where there is none."""
    return next((values[-1] for _, values in stored(url, metric)), None)
