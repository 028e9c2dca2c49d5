"""The evaluator's own pages: metrics, health, and a landing page with links to them."""

from __future__ import annotations

import html
import socket
import threading
from collections.abc import Callable, Iterable
from importlib.metadata import version
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import structlog
from cheroot import wsgi
from prometheus_client import CollectorRegistry, make_wsgi_app

from ..errors import ConfigurationError

log = structlog.get_logger()

# Enough for Prometheus and a person; health checks must not wait for either.
_THREADS = 4
_LAST_PORT = 65_535


class Pages:
    """The WSGI application.

    Args:
        registry: the metrics on the telemetry path.
        path: the telemetry path.
        ready: whether the first round is complete.
    """

    def __init__(
        self, registry: CollectorRegistry, path: str, ready: Callable[[], bool]
    ) -> None:
        self._metrics: WSGIApplication = make_wsgi_app(registry)
        self._path = path
        self._ready = ready

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """WSGI."""
        path = environ.get("PATH_INFO", "")
        if path == self._path:
            return self._metrics(environ, start_response)
        if path == "/-/healthy":
            return _answer(start_response, "200 OK", "healthy\n")
        if path == "/-/ready":
            if self._ready():
                return _answer(start_response, "200 OK", "ready\n")
            return _answer(
                start_response, "503 Service Unavailable", "first round in progress\n"
            )
        if path == "/":
            return _answer(start_response, "200 OK", self._landing(), "text/html")
        return _answer(start_response, "404 Not Found", "not found; see /\n")

    def _landing(self) -> str:
        path = html.escape(self._path, quote=True)
        return (
            "<!doctype html><html lang=en><meta charset=utf-8>"
            "<title>pgverdict evaluator</title><h1>pgverdict evaluator</h1>"
            f"<p>version {version('pgverdict')}</p>"
            f'<ul><li><a href="{path}">metrics</a>'
            '<li><a href="/-/ready">ready</a>'
            '<li><a href="/-/healthy">healthy</a></ul></html>\n'
        )


class WebServer:
    """Serves *application* from a thread of its own while it is entered.

    Args:
        listen_address: ``host:port`` or ``:port`` for all interfaces; port 0 is a
            free one.

    Raises:
        ConfigurationError: the address cannot be used.
    """

    def __init__(self, application: WSGIApplication, listen_address: str) -> None:
        host, _, port = listen_address.rpartition(":")
        if int(port) > _LAST_PORT:
            raise ConfigurationError(
                f"web.listen_address: {listen_address}: expected a port up to "
                f"{_LAST_PORT}"
            )
        everywhere = "::" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104
        self._server = _QuietServer(
            (host.strip("[]") or everywhere, int(port)),
            application,
            numthreads=_THREADS,
            server_name="pgverdict-evaluator",
        )
        try:
            self._server.prepare()
        except OSError as error:
            raise ConfigurationError(
                f"web.listen_address: {listen_address} cannot be used: {error}"
            ) from None
        self._thread = threading.Thread(target=self._server.serve, name="web")

    @property
    def address(self) -> str:
        """Where it listens, as ``host:port``."""
        host, port = self._server.bind_addr[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        self._thread.join()


class _QuietServer(wsgi.Server):
    def error_log(self, msg: str = "", *_: object, **__: object) -> None:
        """Log the first line of cheroot's message: mostly clients that went away."""
        log.debug("web server", message=str(msg).partition("\n")[0])


def _answer(
    start_response: StartResponse, status: str, text: str, kind: str = "text/plain"
) -> list[bytes]:
    body = text.encode()
    start_response(
        status,
        [
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
        ],
    )
    return [body]
