"""Requests to a WSGI application without a network."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any
from wsgiref.types import WSGIApplication
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

from exporter.target import Target
from exporter.web.application import Application

OPENMETRICS = "application/openmetrics-text;version=1.0.0"
# What Prometheus 2.42 sends.
PROMETHEUS = (
    f"{OPENMETRICS},application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request."""

    status: str
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, decompressed."""
        if self.headers.get("Content-Encoding") == "gzip":
            return zlib.decompress(self.body, 16 + zlib.MAX_WBITS).decode()
        return self.body.decode()


def application(target: Target | None, **changed: Any) -> Application:
    """One with the default settings, except those that are *changed*."""
    options: dict[str, Any] = {
        "probed": {},
        "path": "/metrics",
        "timeout": 10.0,
        "offset": 0.5,
    }
    return Application(target, **(options | changed))


def get(
    application: WSGIApplication,
    path: str,
    *,
    query: str = "",
    method: str = "GET",
    **headers: str,
) -> Reply:
    """Send one request; header names with ``_`` for ``-``."""
    environ: dict[str, Any] = {"QUERY_STRING": query}
    setup_testing_defaults(environ)
    environ |= {"REQUEST_METHOD": method, "PATH_INFO": path}
    environ |= {f"HTTP_{name.upper()}": value for name, value in headers.items()}
    started: list[tuple[str, dict[str, str]]] = []

    def start_response(status: str, sent: Any, exc_info: Any = None) -> Any:
        started.append((status, dict(sent)))
        return lambda _: None

    answer = validator(application)(environ, start_response)
    body = b"".join(answer)
    answer.close()  # type: ignore[attr-defined]
    return Reply(*started[0], body)
