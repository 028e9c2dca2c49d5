"""The web server among clients that send nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest

from exporter.web import server
from lab.process import wait_until

from ..exporting import PG_UP, Exporter, exporting

NOWHERE = "host=127.0.0.1 port=1 user=nobody dbname=nothing"


@contextmanager
def silent_clients(exporter: Exporter, number: int) -> Iterator[list[socket.socket]]:
    where = urlsplit(exporter.url)
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection((where.hostname, where.port)))
            for _ in range(number)
        ]


def test_clients_that_send_nothing_do_not_block_others() -> None:
    with (
        exporting(NOWHERE) as exporter,
        silent_clients(exporter, 3 * server.THREADS),
    ):
        scraped = exporter.scrape(timeout=server.CLIENT_TIMEOUT / 4)

    assert scraped[PG_UP] == 0


def test_a_client_may_wait_before_it_sends_its_request() -> None:
    with exporting(NOWHERE) as exporter, silent_clients(exporter, 1) as (client,):
        exporter.scrape()
        client.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
        answer = client.recv(1000)

    assert b"200 OK" in answer


def test_the_number_of_silent_clients_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "SILENT_CLIENTS", 5)
    with exporting(NOWHERE) as exporter, silent_clients(exporter, 30) as clients:
        wait_until(
            lambda: sum(map(gone, clients)) >= 25,
            seconds=server.CLIENT_TIMEOUT / 2,
            what="connections closed at once",
        )
        scraped = exporter.scrape()

    assert scraped[PG_UP] == 0


def gone(client: socket.socket) -> bool:
    """Whether the server closed the connection."""
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
