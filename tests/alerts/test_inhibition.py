"""What a real Alertmanager with the example's configuration holds back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import yaml

from lab import fetch
from lab.alertmanager import Alertmanager
from lab.process import PATIENCE, wait_until

pytestmark = pytest.mark.servers

EXAMPLE = Path(__file__).parents[2] / "alerts" / "alertmanager.example.yml"
WHERE = {"service": "shop", "environment": "production", "deploy": "grafana-7"}
SLOWED = {"alertname": "PgverdictServerSlowed", "server": "db1", **WHERE}


def query(queryid: str, **labels: str) -> dict[str, str]:
    common = {"alertname": "PgverdictQueryRegressed", "server": "db1", **WHERE}
    return common | {"queryid": queryid} | labels


HELD_BACK = [query("explained", shared="true")]
ALONE = [
    query("beyond", shared="false"),
    query("elsewhere", shared="true", server="db2"),
    query("another deploy", shared="true", deploy="grafana-8"),
    query("another service", shared="true", service="billing"),
    {**SLOWED, "alertname": "PgverdictCallFlood", "queryid": "often"},
]


@pytest.fixture
def manager() -> Iterator[Alertmanager]:
    config = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    with Alertmanager(fetch.tool("alertmanager"), config) as running:
        yield running


def inhibited(manager: Alertmanager) -> dict[str, bool]:
    """Whether each query's alert is held back, by its id."""
    return {
        alert["labels"]["queryid"]: bool(alert["status"]["inhibitedBy"])
        for alert in manager.alerts()
        if "queryid" in alert["labels"]
    }


def fire(manager: Alertmanager, *alerts: dict[str, str]) -> None:
    posted = [{"labels": labels} for labels in alerts]
    url = f"{manager.url}/api/v2/alerts"
    requests.post(url, json=posted, timeout=PATIENCE).raise_for_status()


def test_a_slowed_server_holds_back_what_it_explains_and_nothing_else(
    manager: Alertmanager,
) -> None:
    expected = {one["queryid"]: True for one in HELD_BACK}
    expected |= {one["queryid"]: False for one in ALONE}

    fire(manager, *HELD_BACK, *ALONE)
    wait_until(lambda: len(inhibited(manager)) == len(expected), what="every alert")
    assert not any(inhibited(manager).values())

    fire(manager, SLOWED)
    wait_until(lambda: any(inhibited(manager).values()), what="an inhibition")
    assert inhibited(manager) == expected
