"""The launchers of Prometheus, VictoriaMetrics and Alertmanager give real servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests

from lab import fetch
from lab.alertmanager import Alertmanager, to_webhook
from lab.process import LaunchError, free_port, wait_until
from lab.prometheus import Prometheus, scrape_job
from lab.victoriametrics import VictoriaMetrics
from lab.webhook import Webhook
from tests.conftest import prometheus_3

pytestmark = pytest.mark.servers


def test_debians_prometheus_scrapes_and_remembers_after_a_restart() -> None:
    port = free_port()
    itself = scrape_job("itself", f"127.0.0.1:{port}", labels={"team": "a"})
    program = fetch.debian_tool("prometheus")
    with Prometheus(program, scrape=[itself], port=port) as server:
        wait_until(lambda: server.query("up") != [], what="scraped")

        server.restart()

        assert server.value('sum(last_over_time(up{team="a"}[1m]))') == 1
        assert server.value("absent_metric") is None
        assert version(server).startswith("2.")
    assert not server.folder.exists()


def test_a_current_prometheus_has_the_same_shape() -> None:
    port = free_port()
    itself = scrape_job("itself", f"127.0.0.1:{port}")
    with Prometheus(prometheus_3(), scrape=[itself], port=port) as server:
        wait_until(lambda: server.query("up") != [], what="scraped")

        assert server.get("/api/v1/status/buildinfo")["data"]["goVersion"] >= "go1.2"
        assert server.value("up") == 1


def test_victoriametrics_scrapes_and_answers_raw_samples() -> None:
    port = free_port()
    itself = scrape_job("itself", f"127.0.0.1:{port}")
    program = fetch.tool("victoria-metrics")
    with VictoriaMetrics(program, scrape=[itself], port=port) as server:
        server.wait_for_scrape()

        (series,) = server.query("up[1m]")
        assert series["metric"]["job"] == "itself"
        assert {value for _, value in series["values"]} == {"1"}


def test_an_alert_goes_from_a_rule_through_alertmanager_to_the_webhook(
    tmp_path: Path,
) -> None:
    rules = tmp_path / "rules.yml"
    rule = {"alert": "Always", "expr": "vector(1)", "annotations": {"summary": "Yes."}}
    rules.write_text(json.dumps({"groups": [{"name": "g", "rules": [rule]}]}))
    with (
        Webhook() as webhook,
        Alertmanager(fetch.tool("alertmanager"), to_webhook(webhook.url)) as manager,
        Prometheus(fetch.tool("prometheus"), rules=[rules], alertmanager=manager.url),
    ):
        alert = webhook.wait_for(bool)

        assert alert["labels"] == {"alertname": "Always"}
        assert alert["annotations"] == {"summary": "Yes."}
        assert [held["labels"] for held in manager.alerts()] == [alert["labels"]]
        assert requests.get(webhook.url, timeout=60).json() == webhook.deliveries


def test_a_wrong_configuration_is_shown_in_the_servers_own_words() -> None:
    server = Prometheus(fetch.tool("prometheus"), scrape=[{"job": "x"}])

    with pytest.raises(LaunchError, match=r"(?s)prometheus ended.*field job not found"):
        server.__enter__()

    assert not server.folder.exists()


def version(server: Prometheus) -> str:
    answer: str = server.get("/api/v1/status/buildinfo")["data"]["version"]
    return answer
