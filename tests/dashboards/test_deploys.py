"""The dashboard is what its generator makes, and every panel shows something."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from prometheus_client import CollectorRegistry, start_http_server

from dashboards.generate import DASHBOARDS, FOLDER, as_text
from evaluator.model import QueryKey, Report, Settings
from evaluator.sinks.gauges import Gauges
from lab import fetch
from lab.postgres import Postgres
from lab.process import wait_until
from lab.programs import Exporter
from lab.prometheus import Prometheus, scrape_job
from tests.builders import DEPLOY_AT, counters, deploy, effects, judged, noise

RULES = Path(__file__).parents[2] / "alerts" / "pgverdict.rules.yml"


@pytest.fixture(params=DASHBOARDS)
def dashboard(request: pytest.FixtureRequest) -> dict[str, Any]:
    text = (FOLDER / request.param).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def expressions(dashboard: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each expression with its legend, as Grafana would send it."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            filled = target["expr"].replace("$__rate_interval", "10s")
            yield re.sub(r"\$(service|deploy)", ".*", filled), target["legendFormat"]


@pytest.mark.parametrize("name", DASHBOARDS)
def test_the_file_is_what_the_generator_makes(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == as_text(DASHBOARDS[name]())


def test_every_panel_has_a_description_and_a_unit(
    dashboard: dict[str, Any],
) -> None:
    for panel in dashboard["panels"]:
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["targets"]


def test_every_query_goes_to_the_chosen_data_source(dashboard: dict[str, Any]) -> None:
    chosen = {"type": "prometheus", "uid": "${datasource}"}

    assert dashboard["templating"]["list"][0]["type"] == "datasource"
    assert "__inputs" not in dashboard
    for panel in dashboard["panels"]:
        assert panel["datasource"] == chosen
        assert all(target["datasource"] == chosen for target in panel["targets"])


def test_panels_lie_side_by_side(dashboard: dict[str, Any]) -> None:
    places = [panel["gridPos"] for panel in dashboard["panels"]]

    for a, b in itertools.combinations(places, 2):
        apart = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        below = a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
        assert apart or below
    assert all(place["x"] + place["w"] <= 24 for place in places)


def test_deploys_and_verdicts_stand_on_the_time_line(dashboard: dict[str, Any]) -> None:
    shown = dashboard["annotations"]["list"]

    assert [mark["target"]["tags"] for mark in shown] == [["deploy"], ["pgverdict"]]
    assert all(mark["target"]["limit"] == 1000 for mark in shown)


def test_the_table_tells_which_findings_do_not_alert(
    dashboard: dict[str, Any],
) -> None:
    tables = [one for one in dashboard["panels"] if one["type"] == "table"]
    (panel,) = [one for one in tables if one["title"] == "Slower queries"]

    (target,) = [one for one in panel["targets"] if "external_cause" in one["expr"]]
    _, organized = panel["transformations"]
    assert "by (service, deploy, server" in target["expr"]
    assert organized["options"]["excludeByName"][f"Value #{target['refId']}"]


def test_what_the_alerts_link_to_exists() -> None:
    made = {each["uid"]: each for each in (make() for make in DASHBOARDS.values())}
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]

    for rule in (rule for group in groups for rule in group["rules"]):
        _, _, address = rule["annotations"]["dashboard_url"].partition("/d/")
        uid, _, query = address.partition("?")
        variables = {each["name"] for each in made[uid]["templating"]["list"]}
        assert set(re.findall(r"var-(\w+)=", query)) <= variables


@pytest.mark.servers
def test_every_expression_shows_something_on_a_real_prometheus(
    dashboard: dict[str, Any], postgres: Postgres
) -> None:
    watched = "SELECT 1 AS watched_by_the_dashboard"
    ((plan,),) = postgres.execute(f"EXPLAIN (VERBOSE, FORMAT JSON) {watched}")
    queryid = str(plan[0]["Query Identifier"])
    registry = CollectorRegistry()
    gauges = Gauges(registry)
    key = QueryKey("db1", "postgres", "postgres", queryid, "true")
    gauges.show([_report(key)], pending=0)
    gauges.succeeded("round", time.time())
    server, thread = start_http_server(0, "127.0.0.1", registry)
    with Exporter(postgres.dsn) as exporter:
        jobs = [
            scrape_job("pg", f"127.0.0.1:{exporter.port}", labels={"instance": "db1"}),
            scrape_job("evaluator", f"127.0.0.1:{server.server_port}"),
        ]
        with Prometheus(fetch.tool("prometheus"), scrape=jobs) as prometheus:
            for expression, legend in expressions(dashboard):
                wait_until(
                    lambda: (
                        bool(postgres.execute(watched))
                        and bool(prometheus.query(expression))  # noqa: B023
                    ),
                    what=expression,
                )
                labels = set(prometheus.query(expression)[0]["metric"])
                assert set(re.findall(r"{{(\w+)}}", legend)) <= labels
    server.shutdown()
    server.server_close()
    thread.join()


def _report(key: QueryKey) -> Report:
    """One query became slower, of another too little is known."""
    step = np.where(np.arange(60) < 30, 1.0, 1.5)
    slower = counters(0.01 * noise(np.random.default_rng(3)) * step)
    rare = counters([0.01] * 4, queryid="7")
    verdicts = judged([slower, rare], deploy(), Settings())
    verdicts = tuple(
        replace(each, key=key) if each.key == slower.key else each for each in verdicts
    )
    return Report(deploy(), DEPLOY_AT + 1900, Settings(), verdicts, effects=effects())
