"""Answers that go wrong on purpose, and a loopback server that gives them."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal, Self
from urllib.parse import parse_qsl, urlsplit

# For 127.0.0.1 and localhost, signed by itself, valid for a hundred years. It guards
# nothing: it lets tests speak TLS without another tool.
CERTIFICATE = Path(__file__).with_name("certificate.pem")


@dataclass(frozen=True, slots=True)
class Fault:
    """One scripted answer.

    Args:
        body: bytes and text are sent as they are, anything else as JSON.
        delay: seconds of silence before the answer.
        trickle: seconds between two bytes of the body.
        half: promise the whole body, send half of it and close.
        drop: close without an answer, before or after the request was carried out.
        stored: carry the request out all the same, then answer this.
        method, path: only requests of this method whose path contains this.
        times: how many requests it answers; 0 means all.
    """

    status: int = 200
    body: object = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    trickle: float = 0.0
    half: bool = False
    drop: Literal["", "before", "after"] = ""
    stored: bool = False
    method: str = ""
    path: str = ""
    times: int = 1

    @property
    def carried_out(self) -> bool:
        return self.stored or self.drop == "after"

    def matches(self, method: str, path: str) -> bool:
        return self.method in ("", method) and self.path in path

    def send(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer the request that *handler* has read."""
        time.sleep(self.delay)
        if self.drop:
            handler.close_connection = True
            return
        body = _bytes(self.body)
        handler.send_response(self.status)
        headers = {"Content-Type": _content_type(self.body), **self.headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if self.half:
            body = body[: len(body) // 2]
            handler.close_connection = True
        pieces = (
            (body[i : i + 1] for i in range(len(body))) if self.trickle else (body,)
        )
        for piece in pieces:
            handler.wfile.write(piece)
            time.sleep(self.trickle)


def _bytes(body: object) -> bytes:
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()


def _content_type(body: object) -> str:
    if isinstance(body, bytes | str):
        return "text/html; charset=utf-8"
    return "application/json"


class Script:
    """Faults waiting for their request, in order; safe to use from many threads."""

    def __init__(self, faults: tuple[Fault, ...] = ()) -> None:
        self._lock = threading.Lock()
        self._waiting = [(fault, fault.times) for fault in faults]

    def append(self, fault: Fault) -> None:
        with self._lock:
            self._waiting.append((fault, fault.times))

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """The first fault for this request; it is used up after its last time."""
        with self._lock:
            for place, (fault, left) in enumerate(self._waiting):
                if fault.matches(method, path):
                    self._waiting[place] = (fault, left - 1)
                    if left == 1:
                        del self._waiting[place]
                    return fault
        return None


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent; ``form`` holds query and form parameters alike."""

    method: str
    path: str
    headers: Message
    form: tuple[tuple[str, str], ...]
    body: bytes

    def value(self, name: str) -> str:
        """The first value of parameter *name*; KeyError where there is none."""
        return dict(reversed(self.form))[name]


class Handler(BaseHTTPRequestHandler):
    """Reads one request and hands it to :meth:`respond`; logs nothing."""

    protocol_version = "HTTP/1.1"

    def respond(self, request: Request) -> None:
        raise NotImplementedError

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        form = parse_qsl(address.query, keep_blank_values=True)
        if "form-urlencoded" in self.headers.get("Content-Type", ""):
            form += parse_qsl(body.decode(), keep_blank_values=True)
        request = Request(self.command, address.path, self.headers, tuple(form), body)
        try:
            self.respond(request)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            # A client that gave up is part of the experiment.
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Requests are recorded, not printed."""


@contextmanager
def serving(
    handler: type[Handler], port: int = 0, certificate: Path | None = None
) -> Iterator[str]:
    """Run *handler* on a loopback port of its own; gives the address.

    *certificate* is a PEM file with key and certificate; with it, TLS is spoken.
    """
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        scheme = "https" if certificate else "http"
        yield f"{scheme}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.block_on_close = False
        server.server_close()
        thread.join()


def time_outs(*faults: Fault) -> tuple[float, float]:
    """Seconds to wait for a connection, and of silence, for a client that meets these.

    Short only where a silent server is what it meets: a busy machine is silent, too.
    """
    silent = any(fault.delay for fault in faults)
    return 5.0, 0.3 if silent else 20.0


class FaultServer:
    """Gives its ``faults`` one after the other, then 501."""

    def __init__(self, *faults: Fault) -> None:
        self.requests: list[Request] = []
        self.faults = script = Script(faults)
        requests = self.requests

        class Answering(Handler):
            def respond(self, request: Request) -> None:
                requests.append(request)
                fault = script.take(request.method, request.path)
                (fault or Fault(501, "no fault left")).send(self)

        self._running = serving(Answering)
        self.url = ""

    def __enter__(self) -> Self:
        self.url = self._running.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.__exit__(None, None, None)
