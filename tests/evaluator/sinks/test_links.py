"""Where alerts and annotations lead to."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from prometheus_client import CollectorRegistry

from dashboards.generate import deploys
from evaluator.assembly import Systems
from evaluator.errors import ConfigurationError
from evaluator.model import Report, Settings
from evaluator.settings.schema import load
from evaluator.sinks.annotations import draft_of
from evaluator.sinks.gauges import Gauges
from evaluator.sinks.links import Links
from tests.builders import DEPLOY_AT, deploy

REPORT = Report(deploy(), DEPLOY_AT + 1900, Settings(), ())


@pytest.fixture
def links_of(tmp_path):
    def read(more):
        path = tmp_path / "evaluator.yml"
        path.write_text(f"prometheus: {{url: 'http://127.0.0.1:9'}}\n{more}")
        return Systems(load(path), {}).links

    return read


def test_without_configuration_alerts_lead_to_the_grafana_that_is_asked(links_of):
    links = links_of("grafana: {url: 'http://me:s3cret@grafana:3000/sub/'}")

    assert links.grafana == "http://grafana:3000/sub"
    assert links.board == "/sub"
    assert links.runbooks == "alerts/runbooks"


def test_where_people_open_it_by_another_name_that_is_linked(links_of):
    links = links_of(
        "grafana: {url: 'http://grafana:3000'}\n"
        "links: {grafana: 'https://graphs.example.com/', "
        "runbooks: 'https://git.example.com/runbooks/'}"
    )

    assert links.grafana == links.board == "https://graphs.example.com"
    assert links.runbooks == "https://git.example.com/runbooks"


def test_what_is_not_an_address_is_refused(links_of):
    with pytest.raises(ConfigurationError, match=r"links.grafana: expected an http://"):
        links_of("links: {grafana: graphs.example.com}")


def test_an_annotation_leads_to_the_dashboard_of_its_deploy_and_its_time():
    text = draft_of(REPORT, Links(board="https://graphs.example.com")).text

    found = re.search('<a href="([^"]+)">', text)
    assert found is not None
    address = urlsplit(found[1].replace("&amp;", "&"))
    shown = parse_qs(address.query)
    assert address.netloc == "graphs.example.com"
    assert address.path == f"/d/{deploys()['uid']}"
    assert shown["var-deploy"] == ["grafana-1"]
    assert float(shown["from"][0]) / 1000 == DEPLOY_AT - 1800
    # Prometheus shows a sample for five minutes: at once, and for good.
    assert 0 < float(shown["to"][0]) / 1000 - REPORT.judged_at < 300


def test_the_alerts_learn_the_addresses_from_a_metric():
    registry = CollectorRegistry()

    Gauges(registry, links=Links("https://g.example.com", "", "https://r.example.com"))

    labels = {"grafana": "https://g.example.com", "runbooks": "https://r.example.com"}
    assert registry.get_sample_value("pgverdict_links_info", labels) == 1
