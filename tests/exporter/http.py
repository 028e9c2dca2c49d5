"""Ask a WSGI application without a network."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any
from wsgiref.types import WSGIApplication
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: str
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, unpacked."""
        if self.headers.get("Content-Encoding") == "gzip":
            return zlib.decompress(self.body, 16 + zlib.MAX_WBITS).decode()
        return self.body.decode()


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
    begun: list[tuple[str, dict[str, str]]] = []

    def start_response(status: str, sent: Any, exc_info: Any = None) -> Any:
        begun.append((status, dict(sent)))
        return lambda _: None

    answer = validator(application)(environ, start_response)
    body = b"".join(answer)
    answer.close()  # type: ignore[attr-defined]
    return Reply(*begun[0], body)
