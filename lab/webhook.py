"""Receives what Alertmanager posts, keeps it, and shows it to a GET."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from .process import wait_until


class Webhook:
    """An HTTP server on a loopback port; a context manager."""

    def __init__(self) -> None:
        self.deliveries: list[dict[str, Any]] = []
        deliveries = self.deliveries

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                deliveries.append(json.loads(self.rfile.read(length)))
                self._answer({"received": len(deliveries)})

            def do_GET(self) -> None:
                self._answer(deliveries)

            def _answer(self, content: object) -> None:
                body = json.dumps(content, indent=2).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Deliveries are read from the list, not from stderr."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def alerts(self) -> list[dict[str, Any]]:
        """Every alert of every delivery, oldest first."""
        return [alert for each in self.deliveries for alert in each["alerts"]]

    def wait_for(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first alert that is *wanted*; TimeoutError where none comes in time."""

        def found() -> list[dict[str, Any]]:
            return [alert for alert in self.alerts if wanted(alert)]

        wait_until(lambda: bool(found()), what="alert delivered")
        return found()[0]
