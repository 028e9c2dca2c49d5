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

from ..errors import ConfigurationError
from .config_file import WebConfig, load, tls_context

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

log = structlog.get_logger()

# Checked when the name is unknown, so that the time does not reveal which names exist.
_UNKNOWN = bcrypt.hashpw(b"", bcrypt.gensalt(10))
# bcrypt ignores everything after that.
_LONGEST_PASSWORD = 72


class Access:
    """The latest usable content of the file.

    If the file cannot be used, access stays as it was and the problem is logged.

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
        """Whether TLS was configured at the start; to change that needs a restart."""
        return self._context is not None

    def context(self) -> ssl.SSLContext:
        """TLS with the current certificates."""
        self._refresh()
        assert self._context is not None  # noqa: S101 - called only if encrypted
        return self._context

    def allows(self, authorization: str) -> bool:
        """Whether the name and password in the header are right."""
        self._refresh()
        users = self._config.users
        if not users:
            return True
        name, password = _credentials(authorization)
        hashed = users.get(name, "").encode() or _UNKNOWN
        # bcrypt is slow by design, and a scraper comes back every few seconds.
        proof = hmac.digest(self._key, hashed + b"\0" + password, hashlib.sha256)
        if proof in self._granted:
            return True
        right = len(password) <= _LONGEST_PASSWORD and bcrypt.checkpw(password, hashed)
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
                    log.error("web configuration not applied", problem=problem)  # noqa: TRY400
            else:
                log.info("web configuration read again")

    def _load(self) -> None:
        config = load(self._path)
        context = tls_context(config.tls) if config.tls else None
        if self._state is not None and bool(context) != bool(self._context):
            raise ConfigurationError(
                f"{self._path}: TLS cannot be switched while running; restart"
            )
        self._config, self._context, self._granted = config, context, set()
        self._state = self._state_now()

    def _state_now(self) -> object:
        """A value that changes when any of the files changes."""
        tls = self._config.tls
        return [_identity(path) for path in (self._path, *(tls.files if tls else ()))]


def _identity(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)


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
    """WSGI middleware that answers only requests with a right name and password."""

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
