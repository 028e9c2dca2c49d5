"""Requests that know how long their client has kept a thread waiting.

A thread reads a request and sends an answer as slowly as the client wants. As long as
threads are free, each client has its full time; when connections wait for a thread,
those that are overdue are cut off.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cheroot.server import HTTPRequest

# Seconds that a client may need for its request, and for taking one piece of the
# answer, while others wait. A request is one packet; a piece may cross a slow network.
READ_PATIENCE = 0.25
WRITE_PATIENCE = 2.0
# Seconds between two looks at the connections that wait.
INTERVAL = 0.1


class StuckClients:
    """The connections whose thread waits for the client, and until when it may."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._overdue_at: dict[Any, float] = {}

    @contextmanager
    def waiting(self, connection: Any, patience: float) -> Iterator[None]:
        """While the thread of *connection* waits for the client."""
        with self._lock:
            self._overdue_at[connection] = time.monotonic() + patience
        try:
            yield
        finally:
            with self._lock:
                self._overdue_at.pop(connection, None)

    def cut_off(self, most: int) -> None:
        """Disconnect those that are overdue, the longest first, at most so many."""
        now = time.monotonic()
        with self._lock:
            by_time = sorted(self._overdue_at.items(), key=lambda item: item[1])
            for connection, overdue_at in by_time[:most]:
                if overdue_at <= now:
                    del self._overdue_at[connection]
                    with suppress(OSError):  # closed already
                        # The plain socket: one with TLS would wait for the client.
                        socket.socket.shutdown(connection.socket, socket.SHUT_RDWR)


class WatchedRequest(HTTPRequest):
    """A request on a server that has the attribute ``stuck``."""

    def parse_request(self) -> None:
        """Read it."""
        with self.server.stuck.waiting(self.conn, READ_PATIENCE):
            super().parse_request()

    def write(self, chunk: bytes) -> None:
        """Send one piece of the answer."""
        with self.server.stuck.waiting(self.conn, WRITE_PATIENCE):
            super().write(chunk)

    def send_headers(self) -> None:
        """Send the headers, after the rest of a body that nobody needs was read."""
        with self.server.stuck.waiting(self.conn, READ_PATIENCE):
            super().send_headers()
