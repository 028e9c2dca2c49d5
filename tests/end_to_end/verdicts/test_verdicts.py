"""What is a regression and what is not, as three kinds of servers have stored it."""

from __future__ import annotations

import pytest

from lab import shop
from lab.timelapse import STEP
from tests.conftest import prometheus_3

from ..recording.jobs import AWAY, FEW, LOADS, SHORT_WINDOW, UNHARMED
from ..recording.stored import BACKENDS, samples

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

RUNS = (-1, 0, 1)  # of the unchanged workload, one after the other
# VictoriaMetrics keeps about 12 decimal digits of a value.
PRECISION = 1e-9


def verdicts(ended):
    """Verdict, and the reason where there is one, of each statement."""
    return [q["verdict"] + q.get("reason", "") for q in ended.queries.values()]


def test_exactly_the_statement_that_lost_its_index_is_detected(
    recording, backend, judge
):
    ended = judge(backend, "shop")

    assert ended.code == 1
    found = {queryid: query["verdict"] for queryid, query in ended.queries.items()}
    assert found.pop(recording.truth.slowed) == "detected"
    assert list(found.values()) == ["no_regression"] * (len(shop.STATEMENTS) - 1)
    slowed = ended.queries[recording.truth.slowed]
    assert slowed["factor"] > 1.4
    assert slowed["change_at"] == pytest.approx(recording.truth.at, abs=5 * STEP)
    assert ended.complaint == ""


@pytest.mark.parametrize("job", sorted(LOADS))
def test_three_kinds_of_servers_give_the_same_verdicts(job, judge):
    prometheus_3()
    first, *others = [judge(backend, job).queries for backend in BACKENDS]

    for other in others:
        assert {queryid: settled(query) for queryid, query in other.items()} == {
            queryid: settled(query) for queryid, query in first.items()
        }
        for name in ("factor", "p_value"):
            values = {q: v[name] for q, v in first.items() if name in v}
            assert {q: other[q][name] for q in values} == pytest.approx(
                values, rel=PRECISION
            )


def settled(query):
    return query["verdict"], query["stage"], query["dropped"]


@pytest.mark.parametrize(
    ("job", "reset", "gap"),
    [
        ("shop", {0}, {0}),
        ("quiet", {0}, {0}),
        ("gap", {0}, {1}),
        ("reset", {1}, {0}),
        ("restart", {0}, {0}),
    ],
)
def test_the_recording_holds_what_befell_each_job(backend, job, reset, gap, judge):
    """Only the longer absence is longer than the default ``max_gap``."""
    dropped = [query["dropped"] for query in judge(backend, job).queries.values()]

    assert {one["reset"] for one in dropped} == reset
    assert {one["gap"] for one in dropped} == gap


def test_an_exporter_that_is_away_leaves_gaps(recording, backend):
    scraped = samples(recording.backends[backend], "pg_up", "gap")

    minutes = [(at - recording.truth.at) / 60 for at, _ in scraped]
    for leaves, returns in AWAY:
        assert not [at for at in minutes if leaves < at < returns]
        assert any(returns < at < returns + 0.5 for at in minutes)


def test_a_restart_shows_as_another_start_between_two_scrapes(recording, backend):
    url = recording.backends[backend]
    ups = samples(url, "pg_up", "restart")
    starts = samples(url, "pg_postmaster_start_time_seconds", "restart")

    (down,) = [at for at, up in ups if not up]
    # VictoriaMetrics rounds one time in more than one way.
    _, second = sorted({round(start, 3) for _, start in starts})
    assert down < second < down + STEP


@pytest.mark.parametrize("job", UNHARMED)
def test_what_befalls_the_measurement_raises_no_alarm(backend, job, judge):
    ended = judge(backend, job)

    assert ended.code == 0
    assert verdicts(ended) == ["no_regression"] * len(FEW)


@pytest.mark.parametrize("run", RUNS)
def test_an_unchanged_workload_raises_no_alarm(backend, run, judge):
    ended = judge(backend, "quiet", after=2 * SHORT_WINDOW * run, window=SHORT_WINDOW)

    assert ended.code == 0
    assert verdicts(ended) == ["no_regression"] * len(FEW)
