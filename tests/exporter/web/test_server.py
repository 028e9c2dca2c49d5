"""The web server among clients that send nothing, half a request, or do not read."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from exporter.web import server
from exporter.web.stuck_clients import READ_PATIENCE
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


# What a client sends before it stops.
HALVES = (
    b"G",
    b"GET /metrics HTT",
    b"GET /metrics HTTP/1.1\r\nHost: x\r\n",
    b"\x16\x03\x01",
    b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf",
)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("number", [server.THREADS, 4 * server.THREADS])
def test_clients_that_send_half_a_request_do_not_block_others(
    half: bytes, number: int
) -> None:
    with exporting(NOWHERE) as exporter, silent_clients(exporter, number) as clients:
        for client in clients:
            client.sendall(half)
        scraped = exporter.scrape(timeout=server.CLIENT_TIMEOUT / 3)

    assert scraped[PG_UP] == 0


def test_clients_that_send_a_byte_now_and_then_do_not_block_others() -> None:
    number = 2 * server.THREADS
    with exporting(NOWHERE) as exporter, silent_clients(exporter, number) as clients:
        for byte in (b"G", b"E", b"T"):
            for client in clients:
                # Some have been disconnected already.
                with suppress(OSError):
                    client.sendall(byte)
            scraped = exporter.scrape(timeout=server.CLIENT_TIMEOUT / 3)

            assert scraped[PG_UP] == 0


def test_half_a_request_has_its_time_while_threads_are_free() -> None:
    with exporting(NOWHERE) as exporter, silent_clients(exporter, 1) as (client,):
        client.sendall(b"GET /-/healthy HT")
        exporter.scrape()
        time.sleep(5 * READ_PATIENCE)
        client.sendall(b"TP/1.0\r\n\r\n")
        answer = client.recv(1000)

    assert b"200 OK" in answer


def gone(client: socket.socket) -> bool:
    """Whether the server closed the connection."""
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
