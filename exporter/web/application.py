"""The WSGI application: metrics, health, landing page."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote

import structlog

from ..metrics.exposition import END, OPENMETRICS, TEXT
from ..metrics.self_metrics import DISTRIBUTION, SelfMetrics
from ..scrape import Tail
from ..target import Target
from .headers import seconds_for_scrape, wants_gzip, wants_openmetrics

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

log = structlog.get_logger()

PLAIN = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
# Seconds for the read behind /-/ready.
READY_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer before it is sent; a body in pieces is sent piece by piece."""

    status: str
    body: bytes | Iterable[bytes]
    kind: str = PLAIN
    headers: tuple[tuple[str, str], ...] = ()


class Application:
    """Answers requests about the configured servers, and no others.

    Args:
        target: the server of the telemetry path; None if there is only /probe.
        probed: the servers of /probe, by name.
        path: the telemetry path.
        timeout: seconds for a scrape whose client does not send its timeout.
        offset: seconds to subtract from the client's timeout, for sending the page.
    """

    def __init__(
        self,
        target: Target | None,
        *,
        probed: Mapping[str, Target],
        path: str,
        timeout: float,
        offset: float,
    ) -> None:
        self._target = target
        self._probed = probed
        self._path = path
        self._timeout = timeout
        self._offset = offset
        self._self_metrics = SelfMetrics()
        self._routes: Mapping[str, Callable[[WSGIEnvironment], Answer]] = {
            "/-/healthy": lambda _: Answer("200 OK", b"healthy\n"),
            "/-/ready": self._ready,
            "/": self._landing,
            path: self._metrics,
            "/probe": self._probe,
        }

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """WSGI."""
        answer = self._answer(environ)
        headers = [("Content-Type", answer.kind), *answer.headers]
        body = answer.body
        if isinstance(body, bytes):
            headers.append(("Content-Length", str(len(body))))
            body = [body]
        start_response(answer.status, headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else body

    def _answer(self, environ: WSGIEnvironment) -> Answer:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            allow = (("Allow", "GET, HEAD"),)
            return Answer("405 Method Not Allowed", b"only GET\n", headers=allow)
        route = self._routes.get(environ.get("PATH_INFO", ""))
        if route is None:
            return Answer("404 Not Found", b"not found; see /\n")
        try:
            return route(environ)
        except Exception:
            log.exception("request failed", path=environ.get("PATH_INFO", ""))
            return Answer("500 Internal Server Error", b"see the log\n")

    def _metrics(self, environ: WSGIEnvironment) -> Answer:
        """The server of the telemetry path, if any, and the exporter itself."""
        if self._target is not None:
            return self._scraped(self._target, environ, self._self_metrics.page)
        openmetrics = wants_openmetrics(environ.get("HTTP_ACCEPT", ""))
        page = self._self_metrics.page(openmetrics)
        if openmetrics:
            return Answer("200 OK", page + END, OPENMETRICS)
        return Answer("200 OK", page, TEXT)

    def _probe(self, environ: WSGIEnvironment) -> Answer:
        """A server by its name, never by a connection string from outside."""
        names = parse_qs(environ.get("QUERY_STRING", "")).get("target", [])
        target = self._probed.get(names[0]) if len(names) == 1 else None
        if target is None:
            known = ", ".join(self._probed) or "none"
            message = f"unknown target; configured: {known}\n"
            return Answer("404 Not Found", message.encode())
        return self._scraped(target, environ)

    def _scraped(
        self, target: Target, environ: WSGIEnvironment, tail: Tail | None = None
    ) -> Answer:
        scrape = target.scrape(time.monotonic() + self._seconds(environ))
        self._self_metrics.scraped(target.name, up=scrape.snapshot.up)
        openmetrics = wants_openmetrics(environ.get("HTTP_ACCEPT", ""))
        kind = OPENMETRICS if openmetrics else TEXT
        vary = ("Vary", "Accept, Accept-Encoding")
        if not wants_gzip(environ.get("HTTP_ACCEPT_ENCODING", "")):
            pieces = scrape.plain(openmetrics=openmetrics, tail=tail)
            return Answer("200 OK", pieces, kind, (vary,))
        page = scrape.compressed(openmetrics=openmetrics, tail=tail)
        return Answer("200 OK", page, kind, (vary, ("Content-Encoding", "gzip")))

    def _seconds(self, environ: WSGIEnvironment) -> float:
        """Time for the whole read, from the timeout that Prometheus sends."""
        header = environ.get("HTTP_X_PROMETHEUS_SCRAPE_TIMEOUT_SECONDS", "")
        return seconds_for_scrape(header, default=self._timeout, offset=self._offset)

    def _ready(self, _: WSGIEnvironment) -> Answer:
        """Whether a scrape now would be complete."""
        if self._target is None:
            return Answer("200 OK", b"ready\n")
        snapshot = self._target.scrape(time.monotonic() + READY_TIMEOUT).snapshot
        if not snapshot.problems:
            return Answer("200 OK", b"ready\n")
        lines = [f"{p.reason}: {p.message}\n" for p in snapshot.problems]
        return Answer("503 Service Unavailable", "".join(lines).encode())

    def _landing(self, _: WSGIEnvironment) -> Answer:
        links = [(self._path, "metrics")]
        links += [(f"/probe?target={quote(name)}", name) for name in self._probed]
        links += [("/-/ready", "ready"), ("/-/healthy", "healthy")]
        items = "".join(
            f'<li><a href="{html.escape(path)}">{html.escape(name)}</a>'
            for path, name in links
        )
        page = (
            "<!doctype html><html lang=en><meta charset=utf-8>"
            "<title>pgverdict exporter</title><h1>pgverdict exporter</h1>"
            f"<p>version {version(DISTRIBUTION)}<ul>{items}</ul></html>\n"
        )
        return Answer("200 OK", page.encode(), HTML)
