"""One recording: what befell five servers at one moment, and what was judged of it.

| job | what befalls it |
|---|---|
| ``index`` | an index is dropped; its exporter shows plans |
| ``rows`` | one statement is asked for ten times as many rows |
| ``busy`` | other processes want the processors that its statements need |
| ``reset`` | ``pg_stat_statements_reset()`` in the window after it |
| ``quiet`` | nothing |
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from psycopg.types.numeric import Int4

from lab import fetch, shop
from lab.chain import RULES
from lab.faults import serving
from lab.grafana import Grafana
from lab.postgres import Postgres
from lab.process import wait_until
from lab.programs import Evaluator, Exporter
from lab.prometheus import Prometheus, scrape_job
from lab.workload import SETTINGS, Workload

from ..recording import (
    FEW,
    MONITOR,
    PASSWORD,
    open_shop,
    sleep_until,
    wait_for_samples,
)
from .processors import CONTEXT, Batch, step_back
from .publishing import Published, everything_published

JOBS = ("index", "rows", "busy", "reset", "quiet")
WINDOW, SHORT_WINDOW = 30.0, 20.0
RECORDED = 32.0  # before the deploy and after it, seconds
RESETS = 8.0  # seconds after the deploy
# Moments at which nothing happened, seconds after the deploy of the others.
UNCHANGED = tuple(
    round((number - 4.5) / 4.5 * (RECORDED - SHORT_WINDOW), 1) for number in range(10)
)
RATE, CLIENTS = 5.0, 4
# Of what only computes: calls that become much longer must not wait for each other.
SLOW_RATE = 3.0
HOGS = 8  # on each processor: many, as others may keep it busy already
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Listing(shop.Statement):
    """Returns as many rows as ``values`` says."""

    def parameters(self, call: int) -> dict[str, Int4]:  # noqa: ARG002
        return {"value": Int4(self.values)}


LISTING = Listing(
    "first orders",
    f"SELECT id, total FROM orders, pg_sleep({shop.SHORT_WAIT})"  # noqa: S608
    " WHERE id <= %(value)s",
    1_000,
)
LONGER = replace(LISTING, values=10 * LISTING.values)
# They only compute, so they wait when others want the processor, too.
COMPUTING = tuple(
    shop.Statement(f"computed {name}", f"SELECT {name}(total) FROM orders", 1)  # noqa: S608
    for name in ("sum", "avg", "stddev", "variance", "var_pop")
)
STATEMENTS = {
    "index": (shop.SLOWED, *FEW),
    "rows": (LISTING, *FEW),
    "busy": COMPUTING,
    "reset": FEW,
    "quiet": FEW,
}


@dataclass(frozen=True, slots=True)
class Recording:
    """What was stored, and what really happened.

    Args:
        at: time of the deploy, Unix seconds.
        config: of an evaluator that knows each job as a service.
        slowed: queryid of the statement that lost its index.
        longer: queryid of the statement that was asked for more rows.
        published: what a running evaluator made of it.
    """

    at: float
    config: Mapping[str, Any]
    slowed: str
    longer: str
    published: Published


@contextmanager
def recorded() -> Iterator[Recording]:
    """Start everything, let it happen, and leave Prometheus up to be asked."""
    with ExitStack() as stack:
        prometheus = Prometheus(fetch.debian_tool("prometheus"), rules=[RULES])
        grafana = stack.enter_context(Grafana())
        config = _config(prometheus, grafana)
        evaluator = Evaluator(
            config,
            environment={"PGVERDICT_GRAFANA_TOKEN": grafana.add_token("Editor")},
        )
        with ExitStack() as databases:
            servers = {
                job: databases.enter_context(Postgres(settings=SETTINGS))
                for job in JOBS
            }
            with ThreadPoolExecutor() as pool:
                list(pool.map(open_shop, servers.values()))
            exporters = {
                job: databases.enter_context(_exporter(job, server))
                for job, server in servers.items()
            }
            batch = Batch()
            machine = databases.enter_context(serving(batch.page()))
            prometheus.scrape = [
                # Each as if it had a machine of its own.
                *(
                    scrape_job(
                        job, f"127.0.0.1:{exporter.port}", labels={"instance": job}
                    )
                    for job, exporter in exporters.items()
                ),
                scrape_job(
                    "machine",
                    machine.removeprefix("http://"),
                    labels={"instance": "busy"},
                ),
                scrape_job("evaluator", f"127.0.0.1:{evaluator.port}"),
            ]
            stack.enter_context(prometheus)
            at = _live_through(servers, exporters, prometheus, batch)
            slowed = _queryid(servers["index"], "SELECT count(*), sum(total)%")
            longer = _queryid(servers["rows"], "SELECT id, total FROM orders,%<= $%")
        for job in JOBS:
            grafana.post_deploy(("deploy", f"service:{job}"), at=at)
        with evaluator:
            published = everything_published(JOBS, evaluator, prometheus, grafana)
        config.pop("grafana")
        yield Recording(at, config, slowed, longer, published)


def _config(prometheus: Prometheus, grafana: Grafana) -> dict[str, Any]:
    return {
        "prometheus": {"url": prometheus.url},
        "grafana": {"url": grafana.url},
        "services": {
            job: f'job="{job}",datname="{shop.DATABASE}",user="{shop.USER}"'
            for job in JOBS
        },
        "context": CONTEXT,
        "engine": {"window": f"{WINDOW:g}s", "min_samples": 8, "min_calls": 40},
        "service": {"poll_interval": "500ms", "settle": "1s", "lookback": "1h"},
    }


def _exporter(job: str, server: Postgres) -> Exporter:
    if job != "index":
        return Exporter(server.dsn_for(MONITOR, PASSWORD))
    # Plans can be had only in the statements' own database, by who may read its tables.
    server.execute("CREATE EXTENSION pg_stat_statements", database=shop.DATABASE)
    server.execute(
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {MONITOR}",
        database=shop.DATABASE,
    )
    return Exporter(
        server.dsn_for(MONITOR, PASSWORD, shop.DATABASE),
        flags=["--plans.enabled=true", "--plans.interval=2s"],
    )


def _live_through(
    servers: Mapping[str, Postgres],
    exporters: Mapping[str, Exporter],
    prometheus: Prometheus,
    batch: Batch,
) -> float:
    """Let everything happen at its time; the time of the deploy."""
    with ExitStack() as stack:
        workloads = {
            job: stack.enter_context(
                _workload(
                    servers[job],
                    STATEMENTS[job],
                    rate=SLOW_RATE if job == "busy" else RATE,
                )
            )
            for job in JOBS
        }
        step_back(_backends(servers["busy"]))
        backends = {"prometheus": prometheus.url}
        wait_for_samples(backends, exporters, after=time.time())
        sleep_until(time.time() + RECORDED)
        at = time.time()
        servers["index"].execute(shop.DROP_INDEX, database=shop.DATABASE)
        workloads["rows"].stop()
        workloads["longer"] = stack.enter_context(
            _workload(servers["rows"], (LONGER, *FEW))
        )
        stack.enter_context(batch.running(HOGS))
        sleep_until(at + RESETS)
        servers["reset"].execute("SELECT pg_stat_statements_reset()")
        sleep_until(at + RECORDED)
        wait_for_samples(backends, exporters, after=at + RECORDED)
    problems = {job: workload.problems for job, workload in workloads.items()}
    assert not any(problems.values()), problems
    return at


def _workload(
    server: Postgres, statements: tuple[shop.Statement, ...], *, rate: float = RATE
) -> Workload:
    dsn = server.dsn_for(shop.USER, shop.PASSWORD, shop.DATABASE)
    return Workload(dsn, rate=rate, clients=CLIENTS, statements=statements)


def _backends(server: Postgres) -> list[int]:
    """Process ids behind all connections of the workload."""
    asked = f"SELECT pid FROM pg_stat_activity WHERE usename = '{shop.USER}'"  # noqa: S608
    found: list[tuple[Any, ...]] = []

    def all_are_there() -> bool:
        found[:] = server.execute(asked)
        return len(found) == CLIENTS

    wait_until(all_are_there, seconds=PATIENCE, what="connections of the workload")
    return [pid for (pid,) in found]


def _queryid(server: Postgres, text: str) -> str:
    """As PostgreSQL shows its text, constants are numbered."""
    ((queryid,),) = server.execute(
        f"SELECT queryid::text FROM pg_stat_statements WHERE query LIKE '{text}'"  # noqa: S608
    )
    return str(queryid)
