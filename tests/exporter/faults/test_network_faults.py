"""Faults of the network: each scrape ends in time, and the exporter recovers."""

from __future__ import annotations

import socket

import pytest

from lab.postgres import Postgres
from lab.process import free_port

from ..exporting import exporting
from ..proxy import Proxy
from .checks import SHORT, assert_complete, assert_down, assert_recovers

pytestmark = pytest.mark.servers


def test_a_port_that_accepts_and_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with exporting(f"host=127.0.0.1 port={port} user=a") as exporter:
            scrapes = [exporter.scrape(timeout=SHORT) for _ in range(2)]

    for scraped in scrapes:
        assert_down(scraped, "timeout")


def test_a_port_without_a_listener() -> None:
    with exporting(f"host=127.0.0.1 port={free_port()} user=a") as exporter:
        assert_down(exporter.scrape(timeout=SHORT), "unreachable")


@pytest.mark.parametrize("number", [0, 1, 300, 700, 2000])
def test_a_connection_cut_in_the_middle_of_a_read(
    server: Postgres, number: int
) -> None:
    with Proxy(server.port) as proxy, exporting(proxy.dsn) as exporter:
        assert_complete(exporter.scrape())
        proxy.cut_after(number)
        cut = exporter.scrape()
        proxy.flow()

        # It is cut again on the second connection, and there is no third attempt.
        assert_down(cut, "unreachable")
        assert_complete(exporter.scrape())


def test_a_network_that_drops_everything(server: Postgres) -> None:
    with Proxy(server.port) as proxy, exporting(proxy.dsn) as exporter:
        assert_complete(exporter.scrape())
        proxy.stall()
        stalled = [exporter.scrape(timeout=SHORT) for _ in range(2)]
        proxy.flow()

        for scraped in stalled:
            assert_down(scraped, "timeout")
        assert_recovers(exporter)
