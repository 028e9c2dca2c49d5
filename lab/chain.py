"""The whole way, from a working PostgreSQL to an alert at a webhook, on loopback."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import fetch, shop, workload
from .alertmanager import Alertmanager, to_webhook
from .fetch import Tool
from .postgres import MONITOR, Postgres
from .programs import ROOT, Evaluator, Exporter
from .prometheus import Prometheus, scrape_job
from .webhook import Webhook

RULES = ROOT / "alerts" / "pgverdict.rules.yml"
SERVER = "shop-db"  # the label instance of the database


@dataclass(frozen=True, slots=True)
class Timing:
    """How a chain is paced, seconds; fast enough for a test, slow enough to judge."""

    scrape: int = 1
    window: int = 40
    settle: int = 5
    poll: int = 2

    def evaluator(self, prometheus: str, grafana: str, run: str) -> dict[str, Any]:
        """The evaluator's configuration: it takes deploys with the tag run:*run*."""
        return {
            "prometheus": {
                "url": prometheus,
                "selector": f'datname="{shop.DATABASE}",user="{shop.USER}"',
            },
            "grafana": {"url": grafana},
            "deploys": [{"tags": ["deploy", f"run:{run}"]}],
            "engine": {"window": f"{self.window}s", "max_gap": f"{5 * self.scrape}s"},
            "service": {
                "poll_interval": f"{self.poll}s",
                "settle": f"{self.settle}s",
                "lookback": "1h",
            },
        }


@dataclass(frozen=True, slots=True)
class Chain:
    """Everything that runs.

    Args:
        run: names this run in the tags of its deploys, see `tags`: a real Grafana may
            hold those of earlier runs.
    """

    run: str
    postgres: Postgres
    exporter: Exporter
    prometheus: Prometheus
    alertmanager: Alertmanager
    webhook: Webhook
    evaluator: Evaluator
    timing: Timing = field(default_factory=Timing)

    @property
    def tags(self) -> list[str]:
        """Tags of a deploy that this chain's evaluator judges."""
        named = ["service:shop", "environment:demo", "version:2.0"]
        return ["deploy", f"run:{self.run}", *named]

    @property
    def shop(self) -> str:
        """Connection string of the shop's own user."""
        return self.postgres.dsn_for(shop.USER, shop.PASSWORD, shop.DATABASE)

    def slowed_queryid(self) -> str:
        """The queryid of the statement that will lose its index."""
        rows = self.postgres.execute(shop.SLOWED_QUERYID)
        ((queryid,),) = rows
        return str(queryid)


@contextmanager
def chain(
    grafana: str,
    token: str,
    *,
    timing: Timing | None = None,
    program: Tool | None = None,
    rules: Path = RULES,
    started: Callable[[str, str], None] = lambda _name, _address: None,
) -> Iterator[Chain]:
    """Start everything in order; stop it in reverse.

    Args:
        grafana: URL of a Grafana or of the stand-in.
        token: may write annotations there.
        program: the Prometheus to use; by default the one of PATH or Debian.
        started: called with the name and the address of each as it is ready.
    """
    timing, run = timing or Timing(), secrets.token_hex(4)
    with ExitStack() as stack:
        postgres = stack.enter_context(Postgres(settings=workload.SETTINGS))
        workload.create_shop(postgres)
        postgres.create_monitor()
        started("PostgreSQL", f"127.0.0.1:{postgres.port}")
        exporter = stack.enter_context(
            Exporter(postgres.dsn_for(MONITOR), flags=["--texts.interval=10s"])
        )
        started("exporter", f"{exporter.url}/metrics")
        webhook = stack.enter_context(Webhook())
        started("webhook", webhook.url)
        alertmanager = stack.enter_context(
            Alertmanager(fetch.tool("alertmanager"), to_webhook(webhook.url))
        )
        started("Alertmanager", alertmanager.url)
        prometheus = Prometheus(
            program or fetch.tool("prometheus"),
            rules=[rules],
            alertmanager=alertmanager.url,
            interval=f"{timing.scrape}s",
        )
        evaluator = Evaluator(
            timing.evaluator(prometheus.url, grafana, run),
            environment={"PGVERDICT_GRAFANA_TOKEN": token},
        )
        prometheus.scrape = [
            scrape_job(
                "exporter", f"127.0.0.1:{exporter.port}", labels={"instance": SERVER}
            ),
            scrape_job("evaluator", f"127.0.0.1:{evaluator.port}"),
        ]
        stack.enter_context(prometheus)
        started("Prometheus", prometheus.url)
        stack.enter_context(evaluator)
        started("evaluator", f"{evaluator.url}/metrics")
        yield Chain(
            run=run,
            postgres=postgres,
            exporter=exporter,
            prometheus=prometheus,
            alertmanager=alertmanager,
            webhook=webhook,
            evaluator=evaluator,
            timing=timing,
        )
