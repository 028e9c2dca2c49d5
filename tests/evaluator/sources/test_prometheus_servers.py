"""Raw samples come back from real servers exactly as they were stored."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import requests

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
STEP = 15.25  # not in whole seconds, as real scrapes are
COUNT = 240
QUERIES = [f"-74115621104422233{n:02}" for n in range(45)]
# Stored completely before the test begins, late enough to be kept.
BEGIN = float(int(time.time()) - 7200)
TIMES = np.round(BEGIN + STEP * np.arange(COUNT), 3)


def counters(query: int) -> tuple[np.ndarray, np.ndarray]:
    """Calls and seconds of one query, the same for each server."""
    rng = np.random.default_rng(query)
    calls = 1e6 + np.cumsum(rng.integers(0, 50, COUNT))
    return calls, np.cumsum(rng.lognormal(-4, 1, COUNT))


def exposition(*, milliseconds: bool) -> str:
    """All samples as text; OpenMetrics has seconds, Prometheus' own format has ms."""
    times = [f"{at * 1000:.0f}" if milliseconds else f"{at:.3f}" for at in TIMES]
    lines = []
    for place, name in enumerate((PROFILE.calls, PROFILE.seconds)):
        lines.append(f"# TYPE {name.removesuffix('_total')} counter")
        for number, queryid in enumerate(QUERIES):
            labels = (
                f'job="lab",instance="db1:1",datname="s \\"1\\"",queryid="{queryid}"'
            )
            values = counters(number)[place].tolist()
            lines += [
                f"{name}{{{labels}}} {value!r} {at}"
                for at, value in zip(times, values, strict=True)
            ]
    return "\n".join([*lines, "# EOF", ""])


@contextmanager
def prometheus(program: fetch.Tool) -> Iterator[str]:
    server = Prometheus(program)
    backfill(server, exposition(milliseconds=False))
    with server:
        yield server.url


@contextmanager
def victoria() -> Iterator[str]:
    with VictoriaMetrics(fetch.tool("victoria-metrics")) as server:
        import_samples(server, exposition(milliseconds=True))
        yield server.url


SERVERS = {
    "prometheus-2": lambda: prometheus(fetch.debian_tool("prometheus")),
    "prometheus-3": lambda: prometheus(prometheus_3()),
    "victoria-metrics": victoria,
}


@pytest.fixture(scope="module", params=SERVERS)
def url(request) -> Iterator[str]:
    with SERVERS[request.param]() as url:
        yield url


def source(url: str, **settings) -> PrometheusSource:
    return PrometheusSource(Client("prometheus", url), PROFILE, **settings)


def lossy(url: str) -> bool:
    return requests.get(f"{url}/-/ready", timeout=10).text.startswith("VictoriaMetrics")


def test_every_sample_comes_back_exactly_and_none_besides(url):
    found = source(url, selector='job="lab"', chunk=20).read(TIMES[0], TIMES[-1])

    assert [one.key.queryid for one in series_of(found)] == sorted(QUERIES)
    assert found.quality.warnings == ()
    assert found.quality.lone_samples == 0
    for one in series_of(found):
        calls, seconds = counters(QUERIES.index(one.key.queryid))
        assert one.key.database == 's "1"'
        assert one.times.tolist() == TIMES.tolist()
        assert one.calls.tolist() == calls.tolist()
        # VictoriaMetrics keeps about 12 decimal digits of a value.
        assert one.seconds == pytest.approx(
            seconds, rel=1e-11 if lossy(url) else 0, abs=0
        )


@pytest.mark.parametrize(
    ("earlier", "later", "lost"),
    [(0.0, 0.0, 0), (0.001, 0.001, 0), (-0.001, 0.0, 1), (0.0, -0.001, 1)],
)
def test_the_edges_are_the_same_on_every_server(url, earlier, later, lost):
    first, last = TIMES[100], TIMES[120]

    found = source(url).read(first - earlier, last + later)

    assert {one.times.size for one in series_of(found)} == {21 - lost}


def test_a_selector_that_matches_nothing_is_reported(url):
    with pytest.raises(SourceError, match=r'no sample of \w+{job="x"} or '):
        source(url, selector='job="x"').read(TIMES[0], TIMES[-1])


def test_a_wrong_selector_is_reported_in_the_servers_own_words(url):
    with pytest.raises(SourceError, match=r"answered 4\d\d .*pars"):
        source(url, selector="job=~").read(TIMES[0], TIMES[-1])


def test_a_check_finds_the_scrape_interval(url):
    found = source(url).check(TIMES[-1] + 3)

    assert found.queries == len(QUERIES)
    assert found.scrape_interval == pytest.approx(STEP)
    assert found.newest_age == pytest.approx(3)
    assert found.problems == ()
