"""The demo does what it promises, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from lab.demo import Arrived, problems
from lab.process import wait_until

ROOT = Path(__file__).parents[2]
ADDRESS = re.compile(r"(https?://127\.0\.0\.1:\d+\S*)")


class Demo:
    """A demo under way; its output goes to a file."""

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={k: v for k, v in os.environ.items() if "GRAFANA" not in k},
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def wait_for(self, words: str, seconds: float) -> None:
        wait_until(
            lambda: words in self.output or self.process.poll() is not None,
            seconds=seconds,
            what=words,
        )
        assert words in self.output, self.output

    def interrupt(self) -> None:
        """Ctrl-C, for the Python program only, so that make tells its exit code."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        ours = [int(pid) for pid in children.read_text("ascii").split()]
        is_make = self.process.args[0] == "make"  # type: ignore[index]
        os.kill(ours[0] if is_make else self.process.pid, signal.SIGINT)

    def addresses(self) -> list[str]:
        return sorted(set(ADDRESS.findall(self.output)))

    def json_after(self, title: str) -> dict[str, Any]:
        text = self.output.partition(f"{title}\n{'-' * len(title)}\n")[2]
        value: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
        return value


@contextmanager
def demo(log: Path, *command: str) -> Iterator[Demo]:
    running = Demo(list(command), log)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            os.killpg(running.process.pid, signal.SIGTERM)
            running.process.wait(30)


def answers(address: str) -> bool:
    try:
        return requests.get(address, timeout=60).status_code < 500
    except requests.ConnectionError:
        return False


@pytest.mark.servers
@pytest.mark.live
@pytest.mark.timeout(900)
def test_the_demo_passes_stays_up_when_asked_to_and_ends_with_zero(
    tmp_path: Path,
) -> None:
    with demo(tmp_path / "log", "make", "demo", "KEEP=1") as running:
        running.wait_for("everything stays up until Ctrl-C", 250)
        addresses = running.addresses()
        assert len(addresses) >= 6
        wait_until(
            lambda: all(answers(address) for address in addresses),
            what="every address that the demo named",
        )
        running.interrupt()
        code = running.process.wait(30)

    assert code == 0
    assert "PASSED" in running.output
    assert "24 queries: 1 detected, 23 without a regression" in running.output
    alert = running.json_after("The alert as delivered to the webhook")
    assert alert["labels"]["alertname"] == "PgverdictQueryRegressed"
    assert f"slowed on purpose: queryid {alert['labels']['queryid']}" in running.output
    annotation = running.json_after("The annotation as stored")
    assert "pgverdict-outcome:regressed" in annotation["tags"]
    assert not any(answers(address) for address in addresses)


@pytest.mark.servers
@pytest.mark.live
def test_ctrl_c_takes_everything_down(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lab.demo"]
    with demo(tmp_path / "log", *command) as running:
        running.wait_for("warming up", 60)
        addresses = running.addresses()
        running.interrupt()
        code = running.process.wait(30)

    assert code == 130
    assert "interrupted; everything is taken down" in running.output
    assert "Traceback" not in running.output
    assert len(addresses) >= 6
    assert not any(answers(address) for address in addresses)


def found(*queryids: str) -> list[dict[str, str]]:
    return [{"queryid": queryid} for queryid in queryids]


def alerts(*queryids: str) -> list[dict[str, Any]]:
    return [{"labels": labels} for labels in found(*queryids)]


def test_only_exactly_the_slowed_statement_all_the_way_is_a_success() -> None:
    assert problems(Arrived(found("7"), alerts("7"), [{}]), "7") == []


@pytest.mark.parametrize(
    ("arrived", "problem"),
    [
        (Arrived([], [], [{}]), "detected nothing, slowed was 7"),
        (Arrived(found("8"), alerts("7"), [{}]), "detected ['8'], slowed was 7"),
        (Arrived(found("7", "8"), alerts("7"), [{}]), "detected ['7', '8']"),
        (Arrived(found("7"), alerts("8"), [{}]), "alerts came for ['8']"),
        (Arrived(found("7"), alerts("7"), []), "0 annotations, one was expected"),
        (Arrived(found("7"), alerts("7"), [{}, {}]), "2 annotations"),
    ],
)
def test_anything_else_is_a_failure(arrived: Arrived, problem: str) -> None:
    assert any(problem in each for each in problems(arrived, "7"))
