"""Many clients at once, and clients that misbehave."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from bench.speed.statements import fill
from exporter.web.server import CLIENT_TIMEOUT, THREADS
from lab.postgres import Postgres

from ..builders import samples
from ..exporting import PG_UP, Exporter, exporting, statement_series
from .checks import SHORT, assert_complete, assert_down, assert_recovers, connections

pytestmark = pytest.mark.servers


def test_two_hundred_scrapes_at_once_share_one_connection(
    server: Postgres, exporter: Exporter
) -> None:
    with ThreadPoolExecutor(200) as pool:
        replies = list(pool.map(lambda _: exporter.get(), range(200)))

    assert {reply.status_code for reply in replies} == {200}
    for text in {reply.text for reply in replies}:
        assert_complete(samples(text))
    assert connections(server) == 1


def test_scrapes_texts_and_plans_share_one_connection(server: Postgres) -> None:
    often = ("--texts.interval=10ms", "--plans.enabled=true", "--plans.interval=10ms")
    most = 0

    with exporting(server.dsn, "--texts.enabled=true", *often) as exporter:
        with ThreadPoolExecutor(4) as pool:
            scraping = [pool.submit(exporter.scrape) for _ in range(60)]
            while not all(future.done() for future in scraping):
                most = max(most, connections(server))
        scrapes = [future.result() for future in scraping]

    assert {scraped[PG_UP] for scraped in scrapes} == {1}
    assert most == 1


def test_scrapes_of_a_frozen_server_do_not_pile_up(
    server: Postgres, exporter: Exporter
) -> None:
    server.freeze()
    try:
        with ThreadPoolExecutor(8) as pool:
            frozen = list(pool.map(lambda _: exporter.scrape(timeout=SHORT), range(8)))
        healthy = exporter.get("/-/healthy")
    finally:
        server.thaw()

    assert healthy.status_code == 200
    for scraped in frozen:
        assert_down(scraped, "timeout")
    assert_recovers(exporter)
    assert connections(server) == 1


def test_a_client_that_disconnects(exporter: Exporter) -> None:
    host, port = exporter.url.removeprefix("http://").split(":")
    for _ in range(30):
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")

    assert_complete(exporter.scrape())


def test_a_client_that_never_finishes_its_request(exporter: Exporter) -> None:
    host, port = exporter.url.removeprefix("http://").split(":")
    slow = [socket.create_connection((host, int(port))) for _ in range(10)]
    for client in slow:
        client.sendall(b"GET /metrics HTT")

    assert_complete(exporter.scrape())
    for client in slow:
        client.close()


def test_clients_that_do_not_read_their_answer_do_not_block_others() -> None:
    """A page of megabytes does not fit into the buffers of the connections."""
    with Postgres("17") as server:
        fill(server, number=5000)
        with exporting(server.dsn) as exporter, ExitStack() as stack:
            host, port = exporter.url.removeprefix("http://").split(":")
            for _ in range(THREADS + 4):
                client = stack.enter_context(socket.socket())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect((host, int(port)))
                client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")

            scraped = exporter.scrape(timeout=CLIENT_TIMEOUT * 0.4)

    assert scraped[PG_UP] == 1
    assert statement_series(scraped)
