"""A real Prometheus asks for OpenMetrics by itself, and takes in every series exactly.

The server counts nothing more, so what Prometheus holds must be what its rows say.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from lab import fetch
from lab.postgres import Postgres
from lab.process import PATIENCE, wait_until
from lab.prometheus import Prometheus, scrape_job
from tests.conftest import prometheus_3
from tests.exporter.builders import Series, series
from tests.exporter.exporting import Exporter, exporting, statement_series
from tests.exporter.oracle import COUNTS, FIELDS, MILLISECONDS, truth
from tests.exporter.workload import busy_server, monitor_dsn

pytestmark = pytest.mark.servers

FLAGS = (f"--statements.counters={','.join(FIELDS)}", "--context.enabled=false")
CREATED = "--web.openmetrics-created=true"
SINCE = "pg_stat_statements_stats_since_seconds"
# What Prometheus adds to each target.
ITS_OWN = "up|scrape_.*"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with busy_server("17") as running:
        yield running


@pytest.fixture(scope="module")
def plain(server: Postgres) -> Iterator[Exporter]:
    with exporting(monitor_dsn(server), *FLAGS) as exporter:
        yield exporter


@pytest.fixture(scope="module")
def telling(server: Postgres) -> Iterator[Exporter]:
    """One that tells when each counter began."""
    with exporting(monitor_dsn(server), *FLAGS, CREATED) as exporter:
        yield exporter


@pytest.fixture(scope="module")
def prometheus(plain: Exporter, telling: Exporter) -> Iterator[Prometheus]:
    program = fetch.debian_tool("prometheus")
    jobs = [job("plain", plain), job("telling", telling)]
    with Prometheus(program, scrape=jobs) as running:
        wait_until(lambda: scraped(running) == 2, what="two scrapes")
        yield running


def job(name: str, exporter: Exporter) -> dict[str, object]:
    return scrape_job(name, exporter.url.removeprefix("http://"))


def scraped(prometheus: Prometheus) -> int:
    return len(prometheus.query("up == 1 and scrape_samples_scraped > 0"))


def last_scrape(prometheus: Prometheus, name: str) -> float:
    """When the newest scrape was stored that did not fail.

    On a busy machine a scrape may run out of its second; its series are stale then.
    """
    good = f'timestamp(up{{job="{name}"}} == 1)'
    newest = f"max_over_time(({good})[5m:100ms])"
    wait_until(lambda: prometheus.value(newest) is not None, what="a good scrape")
    at = prometheus.value(newest)
    assert at is not None
    return at


def held(prometheus: Prometheus, name: str) -> dict[Series, float]:
    """What Prometheus holds about single statements from the job *name*."""
    found = {}
    at = last_scrape(prometheus, name)
    for one in prometheus.query(f'{{job="{name}"}}', at=at):
        labels = dict(one["metric"])
        metric = labels.pop("__name__")
        del labels["job"], labels["instance"]
        found[series(metric, **labels)] = float(one["value"][1])
    return statement_series(found)


def beginnings(expected: dict[Series, float]) -> dict[Series, float]:
    """The series ``…_created`` of each counter of each statement."""
    since = {
        labels: value for (name, labels), value in expected.items() if name == SINCE
    }
    return {
        (f"pg_stat_statements_{field}_created", labels): value
        for field in (*COUNTS, *MILLISECONDS)
        for labels, value in since.items()
    }


@pytest.mark.parametrize("name", ["plain", "telling"])
def test_prometheus_asks_for_openmetrics(prometheus: Prometheus, name: str) -> None:
    """Its families of counters are named without ``_total``, those of the text with."""
    answer = requests.get(
        f"{prometheus.url}/api/v1/targets/metadata",
        params={"match_target": f'{{job="{name}"}}'},
        timeout=PATIENCE,
    )

    families = {one["metric"]: one["type"] for one in answer.json()["data"]}
    assert families["pg_stat_statements_calls"] == "counter"
    assert "pg_stat_statements_calls_total" not in families


def test_every_series_arrives_exactly(server: Postgres, prometheus: Prometheus) -> None:
    assert held(prometheus, "plain") == truth(server)


def test_with_beginnings_every_series_arrives_exactly(
    server: Postgres, prometheus: Prometheus
) -> None:
    expected = truth(server)

    assert held(prometheus, "telling") == expected | beginnings(expected)


@pytest.mark.parametrize("name", ["plain", "telling"])
def test_no_sample_is_lost_on_the_way(prometheus: Prometheus, name: str) -> None:
    """Prometheus keeps one of two samples with equal labels and says nothing."""
    number = f'scrape_samples_scraped{{job="{name}"}}'
    # All samples of a scrape have one time; the next scrape may show other series.
    newest = last_scrape(prometheus, name)

    kept = prometheus.value(f'count({{job="{name}",__name__!~"{ITS_OWN}"}})', at=newest)

    assert kept == prometheus.value(number, at=newest)


def test_a_prometheus_that_uses_the_beginnings_starts_each_counter_at_zero(
    server: Postgres, telling: Exporter
) -> None:
    flag = "--enable-feature=created-timestamp-zero-ingestion"
    expected = truth(server)
    calls = {key: n for key, n in expected.items() if "calls_total" in key[0]}

    with Prometheus(
        prometheus_3(), scrape=[job("telling", telling)], flags=[flag]
    ) as current:
        wait_until(lambda: scraped(current) == 1, what="a scrape")
        kept = held(current, "telling")
        least = current.query("min_over_time(pg_stat_statements_calls_total[1h])")

    assert kept == expected
    assert [one["value"][1] for one in least] == ["0"] * len(calls)
