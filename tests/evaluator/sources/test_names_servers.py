"""Metrics and labels whose names are not plain, on real servers that have them."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest
import requests

from evaluator.sources.profiles import PROFILES
from evaluator.sources.prometheus import PrometheusSource
from evaluator.transport.client import Client
from lab import fetch
from lab.faults import Fault, Handler, serving
from lab.process import wait_until
from lab.prometheus import Prometheus, scrape_job
from lab.victoriametrics import VictoriaMetrics
from tests.conftest import prometheus_3

pytestmark = pytest.mark.servers

PROFILE = replace(
    PROFILES["pgverdict"],
    calls="db.calls",
    seconds="db.time spent",
    started="db.started",
    recovery="",
    server_info="",
    instance=("k8s.cluster", "server.address"),
    database="db.name",
    queryid="db.statement/id",
)


def page(second: int) -> str:
    lines = []
    for queryid in ("-7", "8"):
        own = f'"db.name"="shop",user="app","db.statement/id"="{queryid}"'
        server = f'"k8s.cluster"="eu \\"1\\"","server.address"="db{queryid}"'
        lines += [
            f'{{"db.calls",{own},{server}}} {second}',
            f'{{"db.time spent",{own},{server}}} {second / 8}',
            f'{{"db.started",{server}}} 1.7e9',
        ]
    return "\n".join([*lines, ""])


def test_names_in_utf_8_are_read_from_prometheus_3():
    begun = int(time.time())

    class Exporter(Handler):
        def respond(self, request):
            assert request.method == "GET"
            text = page(int(time.time()) - begun + 5)
            headers = {"Content-Type": "text/plain; version=1.0.0"}
            Fault(body=text, headers=headers).send(self)

    with (
        serving(Exporter) as url,
        Prometheus(
            prometheus_3(), scrape=[scrape_job("db", url.removeprefix("http://"))]
        ) as server,
    ):
        wait_until(
            lambda: (
                len(server.query('{"db.calls"}[1m]') or [[]]) == 2
                and all(
                    len(one["values"]) > 3 for one in server.query('{"db.calls"}[1m]')
                )
            ),
            what="some scrapes",
        )
        source = PrometheusSource(
            Client("prometheus", server.url), PROFILE, '"k8s.cluster"=~"eu.*"'
        )
        now = time.time()
        found = source.read(now - 60, now)

    assert found.servers == {'eu "1"/db-7', 'eu "1"/db8'}
    assert found.notes == ()
    for batch in found.batches:
        assert batch.keys[0].database == "shop"
        assert batch.identity is not None
        np.testing.assert_array_equal(batch.calls, batch.seconds * 8)


def test_names_with_dots_are_read_from_victoriametrics():
    at = int(time.time()) - 600
    lines = []
    for name, rise in (("db.calls", 8), ("db.seconds", 1)):
        metric = {"__name__": name, "instance": "db1", "queryid": "7", "user": "app"}
        times = [1000 * (at + 15 * n) for n in range(20)]
        values = [rise * n for n in range(20)]
        lines.append(
            json.dumps({"metric": metric, "values": values, "timestamps": times})
        )
    profile = replace(PROFILES["pgverdict"], calls="db.calls", seconds="db.seconds")
    with VictoriaMetrics(fetch.tool("victoria-metrics")) as server:
        requests.post(
            f"{server.url}/api/v1/import", data="\n".join(lines), timeout=30
        ).raise_for_status()
        server.show()
        source = PrometheusSource(Client("prometheus", server.url), profile)
        found = source.read(at, at + 600)

    (batch,) = found.batches
    np.testing.assert_array_equal(batch.calls, batch.seconds * 8)
    assert batch.times.size == 20
