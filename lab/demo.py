"""``make demo``: the whole system catches a real regression in a real PostgreSQL.

Ends with 0 only if exactly the slowed statement was detected and the verdict, the alert
and the annotation all arrived; else with 1. Ctrl-C takes everything down.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import psycopg

from evaluator.sinks.annotations import deploy_tag

from . import shop
from .chain import Chain, chain
from .debian import DebianError
from .pipeline import Pipeline, pipeline
from .process import LaunchError, wait_until
from .workload import Workload

WARM_UP = 6.0
_JUDGED = "pgverdict_deploy_judged_timestamp_seconds"


class DemoError(Exception):
    """Something that should have happened did not."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """What came out at the far end."""

    detected: list[dict[str, str]]
    alerts: list[dict[str, Any]]
    annotations: list[dict[str, Any]]


class Show:
    """Lines with the seconds since the start in front."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._addresses: list[str] = []

    def __call__(self, text: str) -> None:
        print(f"[{time.monotonic() - self._start:4.0f} s] {text}", flush=True)

    def address(self, name: str, address: str) -> None:
        self._addresses.append(f"{name:16} {address}")
        self(self._addresses[-1])

    def addresses(self) -> None:
        print("\n".join(self._addresses), flush=True)

    @staticmethod
    def chapter(title: str, text: str) -> None:
        print(f"\n{title}\n{'-' * len(title)}\n{text}", flush=True)


def main() -> int:
    """Run the demo; the exit code."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument(
        "--keep", action="store_true", help="leave everything up until Ctrl-C"
    )
    keep = parser.parse_args().keep
    show = Show()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _interrupt)
    try:
        with pipeline() as grafana:
            show.address(grafana.kind, grafana.url)
            with chain(grafana.url, grafana.token, started=show.address) as running:
                return _play(running, grafana, show, keep=keep)
    except KeyboardInterrupt:
        show("interrupted; everything is taken down")
        return 130
    except (DebianError, DemoError, LaunchError, TimeoutError, ValueError) as error:
        show(f"FAILED: {error}")
    except (OSError, psycopg.Error, subprocess.SubprocessError) as error:
        show(f"FAILED: {type(error).__name__}: {error}")
    return 1


def _interrupt(_number: int, _frame: object) -> NoReturn:
    """Interrupt once: a second signal must not disturb the taking down."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _play(running: Chain, grafana: Pipeline, show: Show, *, keep: bool) -> int:
    with Workload(running.shop) as load, _showing_its_log(running):
        rate = load.rate * len(shop.STATEMENTS)
        show(f"{len(shop.STATEMENTS)} statements, {rate:.0f} calls a second")
        window = running.timing.window
        _watch(show, load, "warming up", WARM_UP)
        _watch(show, load, "before the deploy", window)
        number, at = grafana.mark_deploy(running.tags, "Shop 2.0 is out")
        running.postgres.execute(shop.DROP_INDEX, database=shop.DATABASE)
        show(f"deploy marked in {grafana.kind}; at the same moment: {shop.DROP_INDEX}")
        _watch(show, load, "after the deploy", window)
        deploy = f"grafana-{number}"
        arrived = _collect(running, grafana, show, deploy, at)
        _print(running, show, arrived, at)
        wrong = problems(arrived, running.slowed_queryid())
        if wrong:
            show("FAILED: " + "; ".join(wrong))
        else:
            show("PASSED: exactly the slowed statement was detected;")
            show("        verdict, alert and annotation have arrived")
        if keep:
            show("everything stays up until Ctrl-C:")
            show.addresses()
            with suppress(KeyboardInterrupt):
                signal.pause()
    return 1 if wrong else 0


@contextmanager
def _showing_its_log(running: Chain) -> Iterator[None]:
    """When a wait times out, show the end of the evaluator's log."""
    try:
        yield
    except TimeoutError as error:
        log = running.evaluator.process.tail()
        raise DemoError(f"{error}; the evaluator's log ends with\n{log}") from error


def _watch(show: Show, load: Workload, what: str, seconds: float) -> None:
    """Let *seconds* pass, with a line every ten of them."""
    start = time.monotonic()
    for mark in [*range(10, int(seconds), 10), seconds]:
        time.sleep(max(0.0, start + mark - time.monotonic()))
        if load.problems:
            raise DemoError(f"the workload stopped: {load.problems[0]}")
        calls = sum(load.calls.values())
        show(f"{what}: {mark:.0f} of {seconds:.0f} s, {calls:,} calls so far")


def _collect(
    running: Chain, grafana: Pipeline, show: Show, deploy: str, at: float
) -> Arrived:
    """Wait for the verdict, then for what follows from it."""
    prometheus, own = running.prometheus, f'{{deploy="{deploy}"}}'

    def wait(condition: Callable[[], bool], what: str) -> None:
        wait_until(condition, what=what)
        show(what)

    def alerts() -> list[dict[str, Any]]:
        delivered = running.webhook.alerts
        mine = [a for a in delivered if a["labels"].get("deploy") == deploy]
        return list({a["fingerprint"]: a for a in mine}.values())

    def written() -> list[dict[str, Any]]:
        end = at + 2 * running.timing.window
        return grafana.annotations(deploy_tag(deploy), at, end)

    # Looks at parts of the window come earlier.
    whole = at + running.timing.window + running.timing.settle
    wait(
        lambda: bool(prometheus.query(f"{_JUDGED}{own} >= {whole}")),
        "the evaluator has judged the whole window",
    )
    wait(lambda: bool(alerts()), "Alertmanager has delivered an alert")
    wait(lambda: bool(written()), "the verdict stands in Grafana")
    detected = prometheus.query(f"pgverdict_query_regressed{own} == 1")
    return Arrived([each["metric"] for each in detected], alerts(), written())


def _print(running: Chain, show: Show, arrived: Arrived, at: float) -> None:
    """The verdict as the evaluator's own command prints it, and what arrived."""
    named = ["--service=shop", "--environment=demo", "--version=2.0"]
    printed = running.evaluator.run("deploy", f"--at={at}", *named, "--log.level=error")
    show.chapter("The verdict", (printed.stdout + printed.stderr).strip())
    query = " ".join(shop.SLOWED.sql.split())
    print(f"slowed on purpose: queryid {running.slowed_queryid()}, {query}")
    show.chapter("The alert as delivered to the webhook", _pretty(arrived.alerts))
    show.chapter("The annotation as stored", _pretty(arrived.annotations))
    print(flush=True)


def _pretty(values: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(v, indent=2, ensure_ascii=False) for v in values)


def problems(arrived: Arrived, slowed: str) -> list[str]:
    """What is not as it should be; empty when all is well."""
    found = []
    detected = [each["queryid"] for each in arrived.detected]
    if detected != [slowed]:
        found.append(f"detected {detected or 'nothing'}, slowed was {slowed}")
    alerted = [each["labels"].get("queryid") for each in arrived.alerts]
    if alerted != [slowed]:
        found.append(f"alerts came for {alerted or 'nothing'}")
    if len(arrived.annotations) != 1:
        found.append(f"{len(arrived.annotations)} annotations, one was expected")
    return found


if __name__ == "__main__":
    sys.exit(main())
