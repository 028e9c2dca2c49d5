"""What is scraped and stored is what was run: each statement, each call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from lab import fetch
from lab.postgres import MONITOR, Postgres
from lab.process import PATIENCE, wait_until
from lab.programs import Exporter
from lab.prometheus import Prometheus, query, scrape_job
from lab.victoriametrics import VictoriaMetrics

from . import known
from .known import DATABASES, USERS, Known, Row, Statement

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


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


@pytest.fixture(scope="module")
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


def last_values(quiet: Quiet, backend: str, metric: str) -> dict[Statement, float]:
    """The newest value of each statement."""
    series = stored(quiet.backends[backend], metric)
    values = {
        Statement(
            *(labels[name] for name in ("user", "datname", "queryid", "toplevel"))
        ): found[-1]
        for labels, found in series
    }
    assert len(values) == len(series), "two series are about the same statement"
    return values


def test_the_stored_number_of_calls_is_the_number_that_were_made(quiet, backend):
    values = last_values(quiet, backend, "pg_stat_statements_calls_total")

    counted = {
        Known(s.user, s.database, quiet.rows[s].text, s.toplevel): calls
        for s, calls in values.items()
        if s.database in DATABASES and s.user in USERS
    }
    assert counted == quiet.calls


def test_every_row_is_stored_and_nothing_besides(quiet, backend):
    calls = last_values(quiet, backend, "pg_stat_statements_calls_total")
    seconds = last_values(quiet, backend, "pg_stat_statements_seconds_total")

    # The exporter itself works in the database postgres and is counted there.
    at_rest = {s: row for s, row in quiet.rows.items() if s.database != "postgres"}
    assert len(at_rest) > 30
    assert {s: value for s, value in calls.items() if s.database != "postgres"} == {
        s: row.calls for s, row in at_rest.items()
    }
    # VictoriaMetrics keeps about 12 decimal digits of a value.
    exact = pytest.approx({s: row.seconds for s, row in at_rest.items()}, rel=1e-11)
    assert {
        s: value for s, value in seconds.items() if s.database != "postgres"
    } == exact
    assert quiet.rows.keys() <= calls.keys()


def test_a_statement_run_by_itself_and_inside_another_are_two(quiet):
    nested = [s for s in quiet.rows if s.toplevel == "false" and s.user in USERS]

    assert len(nested) == len(USERS) * len(DATABASES)
    assert all(s._replace(toplevel="true") in quiet.rows for s in nested)


def test_no_label_set_is_shown_twice(quiet):
    text = requests.get(f"{quiet.exporter}/metrics", timeout=PATIENCE).text

    shown = [
        (sample.name, frozenset(sample.labels.items()))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
    assert len(shown) > 100
    assert len(set(shown)) == len(shown)
