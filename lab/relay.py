"""Stands between a client and a real server, and spoils some of the answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Self

import requests

from .faults import Fault, Handler, Request, Script, serving
from .process import PATIENCE


class Relay:
    """Passes requests on, unless a fault waits for them; a context manager.

    Of a fault that is carried out (``stored``), the fields of its body are added to
    the server's own answer.

    Args:
        watch: called with the number of each request, from 0, before it is answered.
    """

    def __init__(
        self,
        upstream: str,
        *faults: Fault,
        watch: Callable[[int], None] = lambda _number: None,
    ) -> None:
        self.faults = Script(faults)
        self.url = ""
        relay, numbers = self, count()

        class Passing(Handler):
            def respond(self, request: Request) -> None:
                watch(next(numbers))
                fault = relay.faults.take(request.method, request.path)
                if fault is None or fault.carried_out:
                    answer = _pass_on(upstream, request)
                    added = fault.body if fault else None
                    fault = Fault(answer.status_code, _joined(answer.content, added))
                fault.send(self)

        self._running = serving(Passing)

    def __enter__(self) -> Self:
        self.url = self._running.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.__exit__(None, None, None)


def _pass_on(upstream: str, request: Request) -> requests.Response:
    return requests.request(
        request.method,
        upstream + request.path,
        data=list(request.form),
        timeout=PATIENCE,
    )


def _joined(body: bytes, added: object) -> bytes:
    if not isinstance(added, dict):
        return body
    return json.dumps({**json.loads(body), **added}).encode()
