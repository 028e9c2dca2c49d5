"""The web server among clients that say nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest

from exporter import server
from lab.process import wait_until

from .exporting import PG_UP, Exporter, exporting

NOWHERE = "host=127.0.0.1 port=1 user=nobody dbname=nothing"


@contextmanager
def silent_clients(exporter: Exporter, number: int) -> Iterator[list[socket.socket]]:
    where = urlsplit(exporter.url)
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection((where.hostname, where.port)))
            for _ in range(number)
        ]


def test_clients_that_say_nothing_keep_nobody_waiting() -> None:
    with (
        exporting(NOWHERE) as exporter,
        silent_clients(exporter, 3 * server.THREADS),
    ):
        found = exporter.scrape(timeout=server.CLIENT_PATIENCE / 4)

    assert found[PG_UP] == 0


def test_a_client_may_think_before_it_asks() -> None:
    with exporting(NOWHERE) as exporter, silent_clients(exporter, 1) as (client,):
        exporter.scrape()
        client.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
        answer = client.recv(1000)

    assert b"200 OK" in answer


def test_only_so_many_may_say_nothing_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SILENT", 5)
    with exporting(NOWHERE) as exporter, silent_clients(exporter, 30) as clients:
        wait_until(
            lambda: sum(map(gone, clients)) >= 25,
            seconds=server.CLIENT_PATIENCE / 2,
            what="connections closed at once",
        )
        found = exporter.scrape()

    assert found[PG_UP] == 0


def gone(client: socket.socket) -> bool:
    """Whether the server closed the connection."""
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
