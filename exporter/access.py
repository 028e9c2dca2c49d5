"""Who may read: the web configuration file, read again whenever it changes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import ssl
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from wsgiref.types import WSGIApplication

import bcrypt
import structlog

from . import webconfig
from .errors import ConfigurationError
from .webconfig import WebConfig

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

log = structlog.get_logger()

# Compared with when the name is unknown, so that the time does not tell.
_NOBODY = bcrypt.hashpw(b"", bcrypt.gensalt(10))
# bcrypt reads no further.
_LONGEST_PASSWORD = 72


class Access:
    """The file's newest usable content.

    A file that cannot be used leaves the access as it was and is told in the log.

    Raises:
        ConfigurationError: the file cannot be used at the start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._key = os.urandom(32)
        self._state: object = None
        self._config = WebConfig()
        self._context: ssl.SSLContext | None = None
        self._granted: set[bytes] = set()
        self._load()

    @property
    def encrypted(self) -> bool:
        """Whether the file asked for TLS at the start; that needs a restart."""
        return self._context is not None

    def context(self) -> ssl.SSLContext:
        """TLS with the certificates as they are now."""
        self._refresh()
        assert self._context is not None  # noqa: S101 - asked only when encrypted
        return self._context

    def allows(self, authorization: str) -> bool:
        """Whether the header's name and password are known."""
        self._refresh()
        users = self._config.users
        if not users:
            return True
        name, password = _credentials(authorization)
        known = users.get(name, "").encode() or _NOBODY
        # bcrypt is slow by design; a scraper comes back every few seconds.
        proof = hmac.digest(self._key, known + b"\0" + password, hashlib.sha256)
        if proof in self._granted:
            return True
        right = len(password) <= _LONGEST_PASSWORD and bcrypt.checkpw(password, known)
        if not right or name not in users:
            return False
        self._granted.add(proof)
        return True

    def _refresh(self) -> None:
        with self._lock:
            if self._state_now() == self._state:
                return
            try:
                self._load()
            except ConfigurationError as error:
                self._state = self._state_now()
                for problem in error.problems:
                    log.error("web configuration not taken over", why=problem)  # noqa: TRY400
            else:
                log.info("web configuration read again")

    def _load(self) -> None:
        config = webconfig.load(self._path)
        context = webconfig.context_of(config.tls) if config.tls else None
        if self._state is not None and bool(context) != bool(self._context):
            raise ConfigurationError(
                f"{self._path}: TLS cannot be switched while running; restart"
            )
        self._config, self._context, self._granted = config, context, set()
        self._state = self._state_now()

    def _state_now(self) -> object:
        """Changes when any of the files does."""
        tls = self._config.tls
        return [_identity(path) for path in (self._path, *(tls.files if tls else ()))]


def _identity(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _credentials(authorization: str) -> tuple[str, bytes]:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return "", b""
    try:
        name, _, password = base64.b64decode(encoded, validate=True).partition(b":")
        return name.decode(), password
    except (binascii.Error, ValueError):
        return "", b""


class Guard:
    """Lets only those in who may read; WSGI around WSGI."""

    def __init__(self, application: WSGIApplication, access: Access) -> None:
        self._application = application
        self._access = access

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """WSGI."""
        if self._access.allows(environ.get("HTTP_AUTHORIZATION", "")):
            return self._application(environ, start_response)
        body = b"unauthorized\n"
        start_response(
            "401 Unauthorized",
            [
                ("WWW-Authenticate", 'Basic realm="pgverdict"'),
                ("Content-Type", "text/plain; charset=utf-8"),
                ("Content-Length", str(len(body))),
            ],
        )
        return [body]
