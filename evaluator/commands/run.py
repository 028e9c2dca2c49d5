"""``run``: watch for deploys until a signal stops it."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import structlog
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector

from ..assembly import GRAFANA_MISSING, Systems
from ..errors import ConfigurationError
from ..service.ledger import Ledger
from ..service.loop import Outside, Service
from ..service.schedule import Schedule
from ..settings.schema import Config, WebConfig, load
from ..settings.validation import read_settings
from ..sinks.gauges import Gauges
from ..sinks.links import Links
from ..triggers.inbox import Inbox
from ..web.server import Pages, WebServer
from .arguments import PROGRAM, Commands, add_command, add_config

log = structlog.get_logger()


def add_run(commands: Commands) -> None:
    """Add the command ``run``."""
    parser = add_command(
        commands,
        "run",
        run,
        "Watch for deploys and judge each when its window has passed.",
        "Exit codes: 0 stopped by a signal, 2 configuration or usage.",
        f"{PROGRAM} run --config.file=evaluator.yml",
    )
    add_config(parser)
    parser.add_argument(
        "--web.listen-address",
        dest="listen_address",
        metavar="HOST:PORT",
        help="where /metrics is served; default :9720",
    )
    parser.add_argument(
        "--web.telemetry-path",
        dest="telemetry_path",
        metavar="PATH",
        help="default /metrics",
    )


def run(options: argparse.Namespace) -> int:
    """Watch until a signal stops it."""
    config = load(options.config_file)
    systems = Systems(config, os.environ)
    if not systems.triggers:
        raise ConfigurationError(
            "no trigger is configured, so no deploy would ever be seen", GRAFANA_MISSING
        )
    annotations = systems.annotations
    outside = Outside(
        triggers=systems.triggers,
        read=systems.read,
        around=systems.around,
        selector_for=systems.selector_for,
        publish=None if annotations is None else annotations.publish,
    )
    web = _web(config.web, options)
    with _stopped_by_signal() as stop:
        watch(config, outside, systems.links, web, Inbox(), stop)
    return 0


def watch(
    config: Config,
    outside: Outside,
    links: Links,
    web: WebConfig,
    inbox: Inbox,
    stop: threading.Event,
) -> None:
    """Do one round after the other until *stop* is set, and serve the pages.

    The web server ends before the ledger does: after the inbox is closed its threads
    can only be refused, so nothing that they handed in is lost.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    gauges = Gauges(registry, links=links)
    ready = threading.Event()
    pages = Pages(registry, web.telemetry_path, ready.is_set)
    with (
        Ledger(config.service.state) as ledger,
        WebServer(pages, web.listen_address) as server,
    ):
        service = Service(
            outside,
            ledger,
            gauges,
            config.engine.settings(),
            _schedule(config),
            time.time,
            inbox,
        )
        try:
            service.show()
            log.info("watching", address=server.address)
            while not stop.is_set():
                started = time.monotonic()
                service.round()
                ready.set()
                spent = time.monotonic() - started
                stop.wait(max(0.0, config.service.poll_interval - spent))
        finally:
            service.stop()
        log.info("stopped")


def _web(configured: WebConfig, options: argparse.Namespace) -> WebConfig:
    """The configuration, overridden by arguments under the same rules."""
    names = ("listen_address", "telemetry_path")
    given = {name: getattr(options, name) for name in names if getattr(options, name)}
    return read_settings(
        msgspec.structs.asdict(configured) | given, WebConfig, "command line: web"
    )


def _schedule(config: Config) -> Schedule:
    service = config.service
    return Schedule(
        settle=service.settle,
        lookback=service.lookback,
        give_up_after=service.give_up_after,
        retention=service.retention,
    )


@contextmanager
def _stopped_by_signal() -> Iterator[threading.Event]:
    """SIGTERM or Ctrl-C end the watch after the round; a second one at once."""
    stop = threading.Event()

    def ask(number: int, _: object) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    yield stop
