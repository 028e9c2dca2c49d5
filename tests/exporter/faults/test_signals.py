"""The program in a process of its own ends cleanly on a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import requests

from lab.postgres import Postgres

from ..builders import samples
from .checks import assert_complete, assert_down, connections

pytestmark = pytest.mark.servers


@contextmanager
def program(dsn: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The real program in a process of its own, and its address."""
    command = [sys.executable, "-m", "exporter", "--web.listen-address=127.0.0.1:0"]
    environment = {**os.environ, "PGVERDICT_DSN": dsn}
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            yield process, f"http://{line.rpartition('address=')[2].strip()}"
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_program_cleanly(
    server: Postgres, number: signal.Signals
) -> None:
    with program(server.dsn) as (process, address):
        assert_complete(samples(requests.get(f"{address}/metrics", timeout=10).text))
        process.send_signal(number)

        assert process.wait(timeout=10) == 0
    assert connections(server) == 0


def test_a_signal_during_a_scrape_lets_the_scrape_finish(server: Postgres) -> None:
    with program(server.dsn) as (process, address):
        requests.get(f"{address}/metrics", timeout=10)
        server.freeze()
        try:
            with ThreadPoolExecutor(1) as pool:
                scrape = pool.submit(requests.get, f"{address}/metrics", timeout=20)
                time.sleep(0.3)
                process.send_signal(signal.SIGTERM)
                code = process.wait(timeout=10)
        finally:
            server.thaw()

    assert code == 0
    assert_down(samples(scrape.result().text), "timeout")
