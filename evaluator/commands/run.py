"""``run``: watch for deploys until told to stop."""

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

from ..assembly import Systems
from ..service.ledger import Ledger
from ..service.loop import Outside, Schedule, Service
from ..settings.schema import Config, WebConfig, load
from ..settings.validation import read_settings
from ..sinks.gauges import Gauges
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
    """Watch until told to stop."""
    config = load(options.config_file)
    systems = Systems(config, os.environ)
    outside = Outside(
        find=systems.find,
        read=systems.read,
        around=systems.around,
        rivals=systems.rivals,
        tell=systems.annotations().publish,
    )
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    gauges = Gauges(registry, links=systems.links)
    ready = threading.Event()
    web = _web(config.web, options)
    pages = Pages(registry, web.telemetry_path, ready.is_set)
    with (
        Ledger(config.service.state) as ledger,
        WebServer(pages, web.listen_address) as server,
        _stopped_by_signal() as stop,
    ):
        service = Service(
            outside,
            ledger,
            gauges,
            config.engine.settings(),
            _schedule(config),
            time.time,
        )
        service.show()
        log.info("watching", address=server.address)
        while not stop.is_set():
            started = time.monotonic()
            service.round()
            ready.set()
            spent = time.monotonic() - started
            stop.wait(max(0.0, config.service.poll_interval - spent))
        log.info("stopped")
    return 0


def _web(configured: WebConfig, options: argparse.Namespace) -> WebConfig:
    """What is configured, and instead what arguments say, by the same rules."""
    names = ("listen_address", "telemetry_path")
    said = {name: getattr(options, name) for name in names if getattr(options, name)}
    return read_settings(
        msgspec.structs.asdict(configured) | said, WebConfig, "command line: web"
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
    """SIGTERM and Ctrl-C ask for an end after the round; a second one does not wait."""
    stop = threading.Event()

    def ask(number: int, _: object) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    yield stop
