"""The one file that sends HTTP requests: deadlines, retries, errors a person can read.

1. A read may be retried: when the connection failed or broke, and on 429, 502, 503 and
   504, after the time in ``Retry-After``.
2. A write is sent once. Whoever gets no answer must look whether it was carried out
   before sending it again.
3. Silence ends a call, and so does an answer that arrives too slowly.
4. A redirect is not followed: it usually leads to a login page.
5. No message holds a secret, whatever the server answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Self, TypeAlias
from urllib.parse import unquote, urlsplit, urlunsplit

import msgspec
import requests
import urllib3

from ..errors import (
    ConfigurationError,
    RefusedError,
    SourceError,
    TooMuchError,
    UnsureWriteError,
)
from .answers import Answer, is_too_much, refusal
from .failures import Failure, TooLongError, TooSlowError, failure_of
from .redaction import basic_credentials, secrets_of, unsendable
from .retries import retry_after

Params: TypeAlias = Sequence[tuple[str, str]]

RETRIED = frozenset({429, 502, 503, 504})
FIRST_WAIT = 0.5
# An answer about 500 queries over two hours is about 8 MB; this is far beyond any.
MAX_BODY = 512 * 1024 * 1024
# A refusal that took longer, seconds, cannot be had many times.
_SLOW = 5.0
_NO_ANSWER = (
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    OSError,
    TooSlowError,
    TooLongError,
)


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Authorization(requests.auth.AuthBase):
    """Sets the header, or nothing; without this, requests would read ~/.netrc."""

    def __init__(self, header: str) -> None:
        self._header = header

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._header:
            request.headers["Authorization"] = self._header
        return request


class Client:
    """HTTP client of one server.

    Args:
        name: of the server, for messages.
        base_url: address with path prefix; a user and password in it are used and
            never shown.
        token: sent as a bearer token.
        basic: user and password.
        headers: sent with each request, for example ``X-Scope-OrgID``.
        timeout: seconds to wait for a connection, and seconds of silence.
        deadline: longest time of one call with all its retries, in seconds.
        attempts: how often a read is tried at most.
        verify: whether to check the TLS certificate; a path names the trusted ones.

    Raises:
        ConfigurationError: the address or a credential cannot be used.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        token: str = "",
        basic: tuple[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: tuple[float, float] = (5.0, 30.0),
        deadline: float = 60.0,
        attempts: int = 3,
        verify: bool | str = True,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self.url, in_url = _split_credentials(name, base_url)
        basic = basic or in_url
        headers = {name: value.strip() for name, value in (headers or {}).items()}
        token = token.strip()
        for what, value in {"token": token, **headers}.items():
            if unsendable(value):
                raise ConfigurationError(
                    f"{name}: {what}: holds a character that no HTTP header can carry; "
                    "expected plain printable ASCII"
                )
        self._secrets = secrets_of(token, basic, headers)
        authorization = f"Bearer {token}" if token else ""
        if basic is not None and not token:
            authorization = f"Basic {basic_credentials(*basic)}"
        self._session = requests.Session()
        self._session.headers.update(
            {
                "User-Agent": "pgverdict-evaluator",
                "Accept": "application/json",
                # Servers need longer to compress raw samples than a network of 1 Gbit/s
                # to carry them. Over a slower one, `headers` can ask for gzip.
                "Accept-Encoding": "identity",
            }
        )
        self._session.headers.update(headers)
        self._session.auth = _Authorization(authorization)
        self._timeout = timeout
        self._deadline = deadline
        self._attempts = attempts
        self._verify = verify
        if verify is False:
            # The user chose this; no need for a warning at each request.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._clock = clock
        self._sleep = sleep

    @property
    def place(self) -> str:
        """Name and address, for messages."""
        return f"{self.name} ({self.url})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are kept for the next request."""
        self._session.close()

    def get(self, path: str, params: Params = ()) -> Answer:
        """Read; asked again where that may help.

        Raises:
            SourceError: no answer, or another one than 2xx; TooMuchError: a smaller
                question may be answered.
        """
        return self._read("GET", path, params=list(params))

    def post_form(self, path: str, data: Params) -> Answer:
        """Read with parameters that may be too long for an address; as :meth:`get`."""
        return self._read("POST", path, data=list(data))

    def post_json(self, path: str, body: object) -> Answer:
        """Write, once.

        Raises:
            SourceError: it was not carried out; RefusedError: by the server's will.
            UnsureWriteError: nobody can tell whether it was.
        """
        where = self._where("POST", path)
        try:
            reply = self._once(
                "POST",
                path,
                self._clock() + self._deadline,
                data=msgspec.json.encode(body),
                headers={"Content-Type": "application/json"},
            )
        except Failure as failure:
            kind = UnsureWriteError if failure.sent else SourceError
            raise kind(f"{where}: {failure}") from failure
        if 200 <= reply.status < 300:
            return Answer(reply.body, where, self._secrets)
        problem = f"{where}: {self._refusal(reply)}"
        if reply.status >= 500:
            # A server or a proxy may have failed after it stored the thing.
            raise UnsureWriteError(problem)
        raise RefusedError(problem, reply.status)

    def _read(self, method: str, path: str, **content: object) -> Answer:
        where = self._where(method, path)
        until = self._clock() + self._deadline
        for attempt in count(1):
            wait = FIRST_WAIT * 2.0 ** (attempt - 1)
            cause: Failure | None = None
            began = self._clock()
            try:
                reply = self._once(method, path, until, **content)
            except Failure as failure:
                again, problem, cause = failure.again, str(failure), failure
                too_much = failure.too_much
            else:
                if 200 <= reply.status < 300:
                    return Answer(reply.body, where, self._secrets)
                again, problem = reply.status in RETRIED, self._refusal(reply)
                too_much = is_too_much(reply.status, reply.body)
                wait = retry_after(reply.headers, wait)
            if again and attempt < self._attempts:
                if self._clock() + wait < until:
                    self._sleep(wait)
                    continue
                problem += f"; the next attempt would have to wait {wait:.0f} s"
            tries = f" (tried {attempt} times)" if attempt > 1 else ""
            message = f"{where}: {problem}{tries}"
            if too_much:
                slow = attempt > 1 or self._clock() - began > _SLOW
                raise TooMuchError(message, slow=slow) from cause
            raise SourceError(message) from cause
        raise AssertionError("unreachable: the loop ends by return or raise")

    def _once(self, method: str, path: str, until: float, **content: object) -> _Reply:
        left = max(0.001, until - self._clock())
        connect, silence = (min(seconds, left) for seconds in self._timeout)
        try:
            with self._session.request(
                method,
                self.url + path,
                timeout=(connect, silence),
                allow_redirects=False,
                stream=True,
                verify=self._verify,
                **content,  # type: ignore[arg-type]
            ) as response:
                body = self._body(response, until)
        except _NO_ANSWER as error:
            raise failure_of(error, connect=connect, silence=silence) from error
        headers = {name.lower(): value for name, value in response.headers.items()}
        return _Reply(response.status_code, headers, body)

    def _body(self, response: requests.Response, until: float) -> bytes:
        pieces: list[bytes] = []
        size = 0
        # read1 gives what one receive brought; read(n) would wait for all n bytes.
        while piece := response.raw.read1(1 << 20, decode_content=True):
            pieces.append(piece)
            size += len(piece)
            if self._clock() > until:
                raise TooSlowError
            if size > MAX_BODY:
                raise TooLongError
        return b"".join(pieces)

    def _refusal(self, reply: _Reply) -> str:
        return refusal(reply.status, reply.headers, reply.body, self._secrets)

    def _where(self, method: str, path: str) -> str:
        return f"{self.name} ({method} {self.url}{path})"


def _split_credentials(name: str, url: str) -> tuple[str, tuple[str, str] | None]:
    """*url* without credentials and without a slash at the end, and the credentials."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(
            f"{name}: url: expected an address such as http://localhost:9090"
        )
    if parts.query or parts.fragment:
        raise ConfigurationError(
            f"{name}: url: expected an address that ends before '?' and '#'"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    plain = urlunsplit((parts.scheme, host + port, parts.path.rstrip("/"), "", ""))
    if parts.username is None:
        return plain, None
    return plain, (unquote(parts.username), unquote(parts.password or ""))
