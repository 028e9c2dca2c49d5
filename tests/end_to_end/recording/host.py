"""The host of a virtual machine: it takes the processors away, and time goes on.

What a server's statements wait for then lies outside it, as on a host that has sold
more processors than it has. Unlike with processes that really compete for them, how
long they wait does not hang on what else this machine has to do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from lab.faults import Handler, Request
from lab.postgres import Postgres

# How long a server stands still, and how long it goes on, by turns, seconds.
STILL, ON = 0.04, 0.02
# In PromQL, for an evaluator's ``context``.
CONTEXT = {
    "stolen processor time": "sum without (mode)"
    ' (rate(node_cpu_seconds_total{mode="steal"}[1m]))',
}


class Host:
    """Lets a server stand still by turns, and counts for how long."""

    def __init__(self, server: Postgres) -> None:
        self.stolen = 0.0
        self._server = server

    @contextmanager
    def overloaded(self) -> Iterator[None]:
        """Inside the block the server gets the processors only now and then."""
        end = threading.Event()
        thread = threading.Thread(target=self._steal, args=(end,))
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()

    def _steal(self, end: threading.Event) -> None:
        while not end.wait(ON):
            began = time.monotonic()
            self._server.freeze()
            try:
                time.sleep(STILL)
            finally:
                self._server.thaw()
            self.stolen += time.monotonic() - began

    def page(self) -> type[Handler]:
        """What node_exporter would show of it."""
        host = self

        class Page(Handler):
            def respond(self, request: Request) -> None:  # noqa: ARG002
                name = "node_cpu_seconds_total"
                sample = f'{name}{{cpu="0",mode="steal"}} {host.stolen!r}'
                body = f"# TYPE {name} counter\n{sample}\n".encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Page
