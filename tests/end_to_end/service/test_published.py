"""What a running evaluator makes of all jobs: metrics, alerts, annotations."""

from __future__ import annotations

import pytest

from lab import fetch
from lab.chain import RULES
from lab.grafana import Grafana
from lab.programs import Evaluator
from lab.prometheus import Prometheus, scrape_job

from ..recording.host import CONTEXT
from ..recording.jobs import LOADS
from ..recording.stored import remembering
from .publishing import everything_published

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def published(recording):
    """A deploy of each service, judged and reported by a service."""
    prometheus = remembering(
        recording.folder, Prometheus(fetch.debian_tool("prometheus"), rules=[RULES])
    )
    with Grafana() as grafana:
        config = recording.config(
            "prometheus-2",
            prometheus={"url": prometheus.url},
            grafana={"url": grafana.url},
            context=CONTEXT,
            service={"poll_interval": "500ms", "settle": "1s", "lookback": "2h"},
        )
        token = grafana.add_token("Editor")
        evaluator = Evaluator(config, environment={"PGVERDICT_GRAFANA_TOKEN": token})
        prometheus.scrape = [scrape_job("evaluator", f"127.0.0.1:{evaluator.port}")]
        for job in LOADS:
            grafana.post_deploy(("deploy", f"service:{job}"), at=recording.truth.at)
        with prometheus, evaluator:
            yield everything_published(LOADS, evaluator, prometheus, grafana)


def test_only_what_has_no_external_cause_alerts(recording, published):
    truth = recording.truth
    shown = {
        (regressed["service"], regressed["queryid"], regressed["external_cause"])
        for regressed in published.regressed
    }
    alerts = {
        (alert["labels"]["service"], alert["labels"]["queryid"])
        for alert in published.alerts
    }

    assert alerts == {("shop", truth.slowed), ("rows", truth.longer)}
    assert {one[:2] for one in shown if one[2] == "false"} == alerts
    assert {one[0] for one in shown if one[2] == "true"} <= {"hosted"}


def test_each_alert_leads_to_the_dashboard_of_its_deploy(published):
    board = f"{published.grafana}/d/pgverdict-deploys"

    linked = {
        alert["labels"]["service"]: alert["annotations"]["dashboard_url"]
        for alert in published.alerts
    }
    for service in ("shop", "rows"):
        assert linked[service].startswith(f"{board}?var-service={service}&var-deploy=")


def test_the_annotation_says_whether_something_else_may_explain_it(published):
    lost, waited = published.annotated["shop"], published.annotated["hosted"]

    assert "Bitmap Index Scan orders_store and gained Seq Scan orders" in lost
    assert "external cause" not in lost
    if "slower after" in waited.splitlines()[0]:
        assert "may have an external cause" in waited.splitlines()[0]
        assert "; external cause: " in waited
    for text in published.annotated.values():
        assert '<a href="/d/pgverdict-deploys?var-deploy=grafana-' in text
