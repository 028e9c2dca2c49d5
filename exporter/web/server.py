"""The web server: cheroot with this program's log and limits, and a clean end."""

from __future__ import annotations

import resource
import select
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from wsgiref.types import WSGIApplication

import structlog
from cheroot import wsgi
from cheroot.server import HTTPConnection

from ..errors import ConfigurationError
from .stuck_clients import INTERVAL, StuckClients, WatchedRequest
from .tls import TlsAdapter

log = structlog.get_logger()

# A scrape of a frozen server occupies a thread until its deadline; health checks must
# not wait for that.
THREADS = 16
BACKLOG = 512
# Clients that may be connected at once without having sent anything, each for
# CLIENT_TIMEOUT; one more, and the oldest of them is disconnected.
SILENT_CLIENTS = 512
# Seconds for a client to send its request or to receive its answer.
CLIENT_TIMEOUT = 10
# Seconds for scrapes in progress to finish when the exporter stops.
GRACE = 3


class _Connection(HTTPConnection):
    RequestHandlerClass = WatchedRequest


class _Server(wsgi.Server):
    """Keeps slow clients from occupying all threads or all file descriptors."""

    ConnectionClass = _Connection

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most_silent = max(1, min(SILENT_CLIENTS, files // 4))
        self._silent: dict[Any, None] = {}  # the oldest first
        self.stuck = StuckClients()

    def process_conn(self, conn: Any) -> None:
        """Hand a connection to a thread once its client has sent something.

        cheroot does so at once, so that THREADS silent clients would block all others.
        """
        if conn.last_used is not None or _readable(conn.socket):
            self._silent.pop(conn, None)
            super().process_conn(conn)
            return
        if len(self._silent) >= self._most_silent:
            oldest = next(iter(self._silent))
            del self._silent[oldest]
            with suppress(OSError):  # closed already
                oldest.socket.shutdown(socket.SHUT_RDWR)
        self._silent[conn] = None
        self.put_conn(conn)

    def make_room(self) -> None:
        """Cut off clients that are stuck while others wait for a thread."""
        waiting = self.requests.qsize - self.requests.idle
        if waiting > 0:
            self.stuck.cut_off(waiting)

    def error_log(self, msg: str = "", *_: object, **__: object) -> None:
        """cheroot's messages, in one line: mostly about clients that disconnected."""
        first, *_rest = str(msg).splitlines() or [""]
        log.debug("web server", message=first)


class WebServer:
    """Serves *application* from a thread of its own.

    Args:
        address: host and port; an empty host means all interfaces, port 0 a free one.
        tls: returns the context for a new connection; None does not encrypt.
        on_grace_over: ends whatever the requests in progress still wait for.

    Raises:
        ConfigurationError: the address cannot be used.
    """

    def __init__(
        self,
        application: WSGIApplication,
        address: tuple[str, int],
        *,
        tls: Callable[[], ssl.SSLContext] | None = None,
        on_grace_over: Callable[[], None] = lambda: None,
    ) -> None:
        host, port = address
        self._on_grace_over = on_grace_over
        self._server = _Server(
            (host or _everywhere(), port),
            application,
            numthreads=THREADS,
            request_queue_size=BACKLOG,
            timeout=CLIENT_TIMEOUT,
            shutdown_timeout=GRACE,
            server_name="pgverdict-exporter",
        )
        if tls is not None:
            self._server.ssl_adapter = TlsAdapter(tls)
        try:
            self._server.prepare()
        except OSError as error:
            # cheroot wraps the system's error and keeps only its message.
            raise ConfigurationError(
                f"--web.listen-address: {host}:{port} cannot be used: {error}"
            ) from None
        self._thread = threading.Thread(target=self._server.serve, name="web")
        self._stopped = threading.Event()
        self._watch = threading.Thread(
            target=self._make_room, name="web clients", daemon=True
        )

    @property
    def address(self) -> str:
        """Where it listens, as ``host:port``."""
        host, port = self._server.bind_addr[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def start(self) -> None:
        """Start to answer."""
        self._thread.start()
        self._watch.start()

    def stop(self) -> None:
        """Let requests in progress finish for GRACE seconds, then end them."""
        timer = threading.Timer(GRACE, self._on_grace_over)
        timer.start()
        self._stopped.set()
        try:
            self._server.stop()
            self._thread.join()
        finally:
            timer.cancel()

    def _make_room(self) -> None:
        while not self._stopped.wait(INTERVAL):
            self._server.make_room()


def _readable(connection: socket.socket) -> bool:
    """Whether the client has sent something, or disconnected."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


def _everywhere() -> str:
    return "::" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104 - as configured
