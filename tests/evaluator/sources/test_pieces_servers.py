"""Real servers with small limits give the same reading as without any."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from evaluator.errors import SourceError
from evaluator.sources.profiles import PROFILES
from evaluator.sources.prometheus import PrometheusSource
from evaluator.transport.client import Client
from lab import fetch
from lab.history import backfill, import_samples
from lab.prometheus import Prometheus
from lab.victoriametrics import VictoriaMetrics
from tests.conftest import prometheus_3
from tests.queries import series_of

pytestmark = pytest.mark.servers

PROFILE = PROFILES["pgverdict"]
COUNT, STEP = 400, 15.0
QUERIES = [str(7 * number**3 - 40) for number in range(60)]
BEGIN = float(int(time.time()) - 7200)
TIMES = BEGIN + STEP * np.arange(COUNT)


def exposition(*, milliseconds: bool) -> str:
    lines = []
    for name in PROFILE.counters:
        lines.append(f"# TYPE {name.removesuffix('_total')} counter")
        for number, queryid in enumerate(QUERIES):
            labels = f'job="lab",instance="db1:1",datname="shop",queryid="{queryid}"'
            lines += [
                f"{name}{{{labels}}} {(number + 1) * (place + 1)} "
                f"{at * 1000 if milliseconds else at:.0f}"
                for place, at in enumerate(TIMES)
            ]
    return "\n".join([*lines, "# EOF", ""])


@contextmanager
def prometheus(program: fetch.Tool, *flags: str) -> Iterator[str]:
    server = Prometheus(program, flags=flags)
    backfill(server, exposition(milliseconds=False))
    with server:
        yield server.url


@contextmanager
def victoria(*flags: str) -> Iterator[str]:
    with VictoriaMetrics(fetch.tool("victoria-metrics"), flags=flags) as server:
        import_samples(server, exposition(milliseconds=True))
        yield server.url


def prometheus_2() -> fetch.Tool:
    return fetch.debian_tool("prometheus")


LIMITED = {
    # 60 queries have 24,000 samples of each counter.
    "prometheus 2, fewer queries": lambda: prometheus(
        prometheus_2(), "--query.max-samples=9000"
    ),
    "prometheus 3, fewer queries": lambda: prometheus(
        prometheus_3(), "--query.max-samples=9000"
    ),
    "prometheus 2, not one whole query": lambda: prometheus(
        prometheus_2(), "--query.max-samples=150"
    ),
    "victoria, samples of a query": lambda: victoria("-search.maxSamplesPerQuery=9000"),
    "victoria, samples of a series": lambda: victoria(
        "-search.maxSamplesPerSeries=300"
    ),
    "victoria, series of a question": lambda: victoria(
        "-search.maxUniqueTimeseries=25"
    ),
    "victoria, series of a list": lambda: victoria("-search.maxSeries=25"),
    "victoria, length of a question": lambda: victoria("-search.maxQueryLen=256"),
}


@pytest.mark.parametrize("kind", LIMITED)
def test_what_a_server_calls_too_large_is_read_completely_in_pieces(kind):
    with LIMITED[kind]() as url:
        source = PrometheusSource(Client("prometheus", url), PROFILE, 'job="lab"')
        found = source.read(TIMES[0], TIMES[-1])

    assert [one.key.queryid for one in series_of(found)] == sorted(QUERIES)
    assert found.quality.warnings == ()
    assert found.quality.lone_samples == 0
    assert found.notes == ()
    for one in series_of(found):
        number = QUERIES.index(one.key.queryid)
        assert one.times.tolist() == TIMES.tolist()
        assert one.calls.tolist() == [(number + 1) * (n + 1) for n in range(COUNT)]


def test_a_server_that_answers_nothing_however_small_is_reported():
    with prometheus(prometheus_2(), "--query.max-samples=1") as url:
        source = PrometheusSource(Client("prometheus", url), PROFILE, 'job="lab"')
        with pytest.raises(SourceError, match=r"the last one for one query over .*"):
            source.read(TIMES[0], TIMES[-1])
