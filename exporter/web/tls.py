"""TLS for cheroot: current certificates, handshakes in the threads that answer."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from typing import Any

from cheroot.makefile import MakeFile
from cheroot.ssl import Adapter


class TlsAdapter(Adapter):
    """Encrypts each new connection with the context that is current then.

    The handshake happens with the first read: in the thread that accepts connections,
    one silent client would block all others.
    """

    def __init__(self, context: Callable[[], ssl.SSLContext]) -> None:
        self._context = context

    def bind(self, sock: socket.socket) -> socket.socket:
        """Leave the listening socket unchanged."""
        return sock

    def wrap(self, sock: socket.socket) -> tuple[ssl.SSLSocket, dict[str, str]]:
        """Encrypt an accepted connection."""
        wrapped = self._context().wrap_socket(
            sock, server_side=True, do_handshake_on_connect=False
        )
        return wrapped, self.get_environ()

    def get_environ(self) -> dict[str, str]:
        """What the application can see of the encryption."""
        return {"wsgi.url_scheme": "https", "HTTPS": "on"}

    def makefile(self, sock: ssl.SSLSocket, mode: str = "r", bufsize: int = -1) -> Any:
        """A file object to read from or write to."""
        return MakeFile(sock, mode, bufsize)
