"""What is a regression and what is not, as three kinds of servers have stored it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lab import shop
from tests.conftest import prometheus_3

from ..commands import evaluator, write
from ..recording import FEW, samples
from .world import BACKENDS, BEFALLS, JOBS, RECOVERS, SHORT_WINDOW, WINDOW

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


RUNS = (-1, 0, 1)  # of the unchanged workload, one after the other
ASKED = [(job, 0.0, WINDOW) for job in JOBS if job != "quiet"] + [
    ("quiet", 2 * SHORT_WINDOW * run, SHORT_WINDOW) for run in RUNS
]


@pytest.fixture(scope="module")
def judge(recording, tmp_path_factory):
    """What the command line says; two commands at a time, for there are many."""
    folder = tmp_path_factory.mktemp("judge")
    configs = {}
    for backend in recording.backends:
        (folder / backend).mkdir()
        configs[backend] = write(folder / backend, recording.config(backend))

    def command(backend, job, after, window):
        return evaluator(
            *("deploy", "--at", f"{recording.at + after:.3f}", "--service", job),
            *("--window", f"{window:g}s", "--format", "json"),
            config=configs[backend],
        )

    with ThreadPoolExecutor(2) as pool:
        ended = {
            (backend, *asked): pool.submit(command, backend, *asked)
            for backend in recording.backends
            for asked in ASKED
        }
        yield lambda backend, job, *, after=0.0, window=WINDOW: ended[
            backend, job, after, window
        ].result()


def of_the_shop(ended):
    """What was said about each statement that worked, by its queryid."""
    return {
        queryid: query["verdict"] + query.get("reason", "")
        for queryid, query in ended.queries.items()
        if query["user"] == shop.USER
    }


def test_exactly_the_statement_that_lost_its_index_is_detected(
    recording, backend, judge
):
    ended = judge(backend, "shop")

    assert ended.code == 1
    said = of_the_shop(ended)
    assert said.pop(recording.slowed) == "detected"
    assert list(said.values()) == ["no_regression"] * (len(shop.STATEMENTS) - 1)
    found = ended.queries[recording.slowed]
    assert found["factor"] > 1.4
    assert found["change_at"] == pytest.approx(recording.at, abs=5)
    assert ended.complaint == ""


def test_three_kinds_of_servers_give_the_same_verdicts(recording, judge):
    prometheus_3()
    first, *others = [judge(backend, "shop").queries for backend in BACKENDS]

    for other in others:
        assert {queryid: settled(query) for queryid, query in other.items()} == {
            queryid: settled(query) for queryid, query in first.items()
        }
        factors = {q: v["factor"] for q, v in first.items() if "factor" in v}
        # They scrape at other moments, so an interval more or less is in the windows.
        assert {q: other[q]["factor"] for q in factors} == pytest.approx(
            factors, rel=0.15
        )


def settled(query):
    return query["verdict"], query["stage"]


def test_the_recording_holds_what_befell_each_job(recording, backend, judge):
    url = recording.backends[backend]

    times = [at - recording.at for at, _ in samples(url, "pg_up", "gap")]
    assert not [at for at in times if BEFALLS + 4 < at < RECOVERS]
    starts = samples(url, "pg_postmaster_start_time_seconds", "restart")
    # VictoriaMetrics rounds one time in more than one way.
    assert len({round(start, 3) for _, start in starts}) == 2
    assert {
        job: resets(judge(backend, job)) for job in ("reset", "gap", "restart")
    } == {
        "reset": {1},
        "gap": {0},
        "restart": {0},
    }


def resets(ended):
    """How many intervals of the statements that worked were dropped as resets."""
    return {
        query["dropped"]["reset"]
        for query in ended.queries.values()
        if query["user"] == shop.USER
    }


@pytest.mark.parametrize("job", sorted(set(JOBS) - {"shop", "quiet"}))
def test_what_befalls_the_measurement_is_no_regression(backend, job, judge):
    ended = judge(backend, job)

    assert ended.code == 0
    assert list(of_the_shop(ended).values()) == ["no_regression"] * len(FEW)


@pytest.mark.parametrize("run", RUNS)
def test_an_unchanged_workload_is_no_regression(backend, run, judge):
    after = 2 * SHORT_WINDOW * run
    ended = judge(backend, "quiet", after=after, window=SHORT_WINDOW)

    assert ended.code == 0
    assert list(of_the_shop(ended).values()) == ["no_regression"] * len(FEW)
