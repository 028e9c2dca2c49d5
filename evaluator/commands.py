"""What run, deploy and replay do with their arguments."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector

from .assembly import Systems
from .config import Config, EngineConfig, load
from .examination import examine
from .ledger import Ledger
from .model import Deploy, Report
from .output import say
from .selection import engine_with, known_neighbours, must_have_passed
from .service import Outside, Schedule, Service
from .sinks.gauges import Gauges
from .sinks.report import to_json, to_table
from .sources.captures import Capture
from .sources.profiles import PROFILES
from .web import Pages, WebServer

log = structlog.get_logger()


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
    pages = Pages(
        registry, options.telemetry_path or config.web.telemetry_path, ready.is_set
    )
    address = options.listen_address or config.web.listen_address
    with (
        Ledger(config.service.state) as ledger,
        WebServer(pages, address) as server,
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


def deploy(options: argparse.Namespace) -> int:
    """Judge one deploy now."""
    config = load(options.config_file)
    settings = engine_with(config.engine, window=options.window).settings()
    one = Deploy(
        id="-".join(filter(None, ("manual", options.service, f"{options.at:.0f}"))),
        at=options.at,
        service=options.service,
        environment=options.environment,
        version=options.version,
        source="command line",
    )
    must_have_passed(one.at, settings.window)
    systems = Systems(config, os.environ)
    report = examine(
        one,
        systems.read,
        settings,
        time.time,
        around=systems.around,
        others=known_neighbours(systems, one, settings.window),
    )
    _print(report, options)
    if options.annotate:
        systems.annotations().publish(report)
    return int(bool(report.detected))


def replay(options: argparse.Namespace) -> int:
    """Judge a saved answer of Prometheus."""
    engine = engine_with(EngineConfig(engine=options.engine), window=options.window)
    one = Deploy(id=f"replay-{options.at:.0f}", at=options.at, source=options.capture)

    capture = Capture(options.capture, PROFILES[options.profile])

    report = examine(
        one,
        lambda _, start, end: capture.read(start, end),
        engine.settings(),
        time.time,
        around=lambda _, start, end, __: capture.surroundings(start, end),
    )
    _print(report, options)
    return int(bool(report.detected))


def _print(report: Report, options: argparse.Namespace) -> None:
    text = (
        to_json(report)
        if options.format == "json"
        else to_table(report, everything=options.everything)
    )
    say(text)


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
