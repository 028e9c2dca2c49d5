"""A TCP proxy on loopback that can stall, slow down or cut the server's answers."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import Self

from lab.postgres import PASSWORD, SUPERUSER

_NAP = 0.02  # seconds


class Proxy:
    """A context manager for a proxy in front of the server on *port*."""

    def __init__(self, port: int) -> None:
        self._server = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._flowing = threading.Event()
        self._flowing.set()
        self._left: int | None = None
        self._before_stall: int | None = None
        self._rate: float | None = None
        self.connections = 0

    @property
    def dsn(self) -> str:
        """Connection string of the superuser through the proxy."""
        port = self._listener.getsockname()[1]
        return (
            f"host=127.0.0.1 port={port} user={SUPERUSER} password={PASSWORD} "
            "dbname=postgres"
        )

    def stall(self) -> None:
        """Keep every connection open and let nothing through, in neither direction."""
        self._flowing.clear()

    def flow(self) -> None:
        """Let everything through again."""
        self._left = self._before_stall = None
        self._flowing.set()

    def slow_to(self, rate: float) -> None:
        """Let what the server sends through at *rate* bytes per second."""
        self._rate = rate

    def stall_after(self, number: int) -> None:
        """Stall when the server has sent *number* more bytes."""
        self._before_stall = number

    def cut_after(self, number: int) -> None:
        """End the connection when the server has sent *number* more bytes."""
        self._left = number

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.flow()
        self._listener.close()
        for connection in self._open:
            _end(connection)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections += 1
                server = socket.create_connection(self._server)
                server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open += [client, server]
                for pair in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(
        self, source: socket.socket, sink: socket.socket, from_server: bool
    ) -> None:
        owed = 0.0
        with suppress(OSError):
            while data := source.recv(4096):
                if from_server and self._before_stall is not None:
                    self._before_stall -= len(data)
                    if self._before_stall < 0:
                        self.stall()
                self._flowing.wait()
                if from_server and self._rate is not None:
                    owed += len(data) / self._rate
                    # Not for every packet: each sleep takes longer than requested.
                    if owed > _NAP:
                        time.sleep(owed)
                        owed = 0.0
                if from_server and self._left is not None:
                    data, self._left = data[: self._left], self._left - len(data)
                    if self._left < 0:
                        sink.sendall(data)
                        break
                sink.sendall(data)
        _end(source)
        _end(sink)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
