"""TLS for cheroot: certificates read anew, handshakes in the threads that answer."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from typing import Any

from cheroot.makefile import MakeFile
from cheroot.ssl import Adapter


class TlsAdapter(Adapter):
    """Encrypts each connection with the context of that moment.

    The handshake happens with the first read: in the thread that accepts, one silent
    client would keep all others waiting.
    """

    def __init__(self, context: Callable[[], ssl.SSLContext]) -> None:
        self._context = context

    def bind(self, sock: socket.socket) -> socket.socket:
        """The listening socket stays as it is."""
        return sock

    def wrap(self, sock: socket.socket) -> tuple[ssl.SSLSocket, dict[str, str]]:
        """Encrypt an accepted connection."""
        wrapped = self._context().wrap_socket(
            sock, server_side=True, do_handshake_on_connect=False
        )
        return wrapped, self.get_environ()

    def get_environ(self) -> dict[str, str]:
        """What the application sees of it."""
        return {"wsgi.url_scheme": "https", "HTTPS": "on"}

    def makefile(self, sock: ssl.SSLSocket, mode: str = "r", bufsize: int = -1) -> Any:
        """A file to read from or write to."""
        return MakeFile(sock, mode, bufsize)
