"""One recording that serves many tests: what befell four servers around a deploy.

Everything happens at the same time, each thing to a scrape job of its own, and three
kinds of servers store it all:

| job | what befalls it |
|---|---|
| ``shop`` | an index is dropped at the deploy |
| ``quiet`` | nothing |
| ``gap`` | its exporter, a second one of the quiet server, is away for some seconds |
| ``reset`` | ``pg_stat_statements_reset()`` |
| ``restart`` | PostgreSQL is restarted under load |
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from lab import fetch, shop
from lab.postgres import Postgres
from lab.programs import Exporter
from lab.prometheus import Prometheus, scrape_job
from lab.victoriametrics import VictoriaMetrics
from lab.workload import SETTINGS, Workload

from ..recording import (
    FEW,
    MONITOR,
    PASSWORD,
    open_shop,
    sleep_until,
    wait_for_samples,
)
from . import known
from .known import Known, Row, Statement

JOBS = ("shop", "quiet", "gap", "reset", "restart")
BACKENDS = ("prometheus-2", "prometheus-3", "victoria-metrics")
WINDOW = 30.0
# Three of these, one after the other, fit into the recording.
SHORT_WINDOW = 15.0
RECORDED = 3 * SHORT_WINDOW  # before the deploy and after it, seconds
# When it befalls them, and when what was away comes back, seconds after the deploy.
BEFALLS, RECOVERS = 8.0, 16.0
RATE = 5.0


@dataclass(frozen=True, slots=True)
class Recording:
    """What was stored, and what really happened.

    Args:
        at: time of the deploy, Unix seconds.
        began: time before the first scrape.
        backends: URLs by name.
        exporters: URLs by job.
        slowed: queryid of the statement that lost its index.
        calls: of the quiet server's known statements.
        rows: of the quiet server, after its last statement.
    """

    at: float
    began: float
    backends: Mapping[str, str]
    exporters: Mapping[str, str]
    slowed: str
    calls: Mapping[Known, int]
    rows: Mapping[Statement, Row]

    def config(self, backend: str, **sections: Any) -> dict[str, Any]:
        """A configuration that reads *backend* and knows each job as a service."""
        return {
            "prometheus": {"url": self.backends[backend]},
            "services": {job: f'job="{job}",datname="{shop.DATABASE}"' for job in JOBS},
            "engine": {
                "window": f"{WINDOW:g}s",
                # A third of what a short window holds on a calm machine.
                "min_samples": 5,
                "min_calls": 25,
            },
            **sections,
        }


@contextmanager
def recorded() -> Iterator[Recording]:
    """Start everything, let it happen, and leave the servers up to be asked."""
    began = time.time()
    with ExitStack() as stack:
        servers = {
            job: stack.enter_context(
                Postgres(settings={**SETTINGS, "pg_stat_statements.track": "all"})
            )
            for job in JOBS
            if job != "gap"
        }
        with ThreadPoolExecutor() as pool:
            list(pool.map(open_shop, servers.values()))
        known.create(servers["quiet"])
        exporters = {
            job: stack.enter_context(
                Exporter(
                    servers["quiet" if job == "gap" else job].dsn_for(
                        MONITOR, PASSWORD
                    ),
                    # Of the second that Prometheus waits; a busy machine needs it.
                    flags=["--scrape.timeout-offset=100ms"],
                )
            )
            for job in JOBS
        }
        backends = _backends(stack, exporters)
        workloads = {
            job: stack.enter_context(_workload(job, server))
            for job, server in servers.items()
        }
        calls = known.run(servers["quiet"])
        wait_for_samples(backends, exporters, after=time.time())
        at = _live_through(stack, servers, exporters, workloads)
        wait_for_samples(backends, exporters, after=at + RECORDED)
        for workload in workloads.values():
            workload.stop()
        must_have_worked(workloads)
        rows = known.rows(servers["quiet"])
        wait_for_samples(backends, exporters, after=time.time())
        yield Recording(
            at=at,
            began=began,
            backends=backends,
            exporters={job: exporter.url for job, exporter in exporters.items()},
            slowed=_slowed(servers["shop"]),
            calls=calls,
            rows=rows,
        )


def must_have_worked(workloads: Mapping[str, Workload]) -> None:
    """A workload that did not keep pace makes a recording that proves nothing."""
    for job, workload in workloads.items():
        assert not workload.problems, f"{job}: {workload.problems}"
        # One was started anew when less than half of the time was left.
        calls = min(workload.calls.values())
        assert calls > 0.8 * RATE * (RECORDED - RECOVERS), f"{job}: {workload.calls}"


def _backends(stack: ExitStack, exporters: Mapping[str, Exporter]) -> dict[str, str]:
    """Each scrapes all jobs every second."""
    scrape = [
        scrape_job(job, f"127.0.0.1:{exporter.port}")
        for job, exporter in exporters.items()
    ]
    servers: list[Prometheus | VictoriaMetrics] = [
        Prometheus(fetch.debian_tool("prometheus"), scrape=scrape),
        VictoriaMetrics(fetch.tool("victoria-metrics"), scrape=scrape),
    ]
    names = [BACKENDS[0], BACKENDS[2]]
    if fetch.go() is not None:
        servers.append(Prometheus(fetch.prometheus_3(), scrape=scrape))
        names.append(BACKENDS[1])
    for server in servers:
        stack.enter_context(server)
    return {name: server.url for name, server in zip(names, servers, strict=True)}


def _workload(job: str, server: Postgres) -> Workload:
    dsn = server.dsn_for(shop.USER, shop.PASSWORD, shop.DATABASE)
    if job == "shop":
        return Workload(dsn, rate=RATE)
    return Workload(dsn, rate=RATE, clients=2, statements=FEW)


def _live_through(
    stack: ExitStack,
    servers: Mapping[str, Postgres],
    exporters: Mapping[str, Exporter],
    workloads: dict[str, Workload],
) -> float:
    """Let everything happen at its time; the time of the deploy."""
    sleep_until(time.time() + RECORDED)
    at = time.time()
    servers["shop"].execute(shop.DROP_INDEX, database=shop.DATABASE)
    sleep_until(at + BEFALLS)
    exporters["gap"].stop()
    servers["reset"].execute("SELECT pg_stat_statements_reset()")
    servers["restart"].restart()
    # Its connections were cut, which is what a restart does to an application.
    workloads["restart"].stop()
    workloads["restart"] = stack.enter_context(_workload("restart", servers["restart"]))
    sleep_until(at + RECOVERS)
    exporters["gap"].start()
    sleep_until(at + RECORDED)
    return at


def _slowed(server: Postgres) -> str:
    """As PostgreSQL shows its text, constants are numbered."""
    ((queryid,),) = server.execute(
        "SELECT queryid::text FROM pg_stat_statements"
        " WHERE query LIKE 'SELECT count(*), sum(total)%' AND query LIKE '%store = $%'"
    )
    return str(queryid)
