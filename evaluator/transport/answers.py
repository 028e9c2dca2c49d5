"""A server's answer: decoded, or described in a few words without any secret (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from ..errors import SourceError
from .redaction import Secrets

T = TypeVar("T")

EXCERPT = 200
_ADVICE = {
    401: "the token or password is missing, wrong or expired",
    403: "the token or user is known but may not do this",
    404: "the address may lack a path prefix",
    429: "it asks for fewer requests",
}

# Not in time (408, 504, 524), too large (413, 414, 431), refused while it was carried
# out (422: limits of samples, series and memory), too much at once (429), or a proxy's
# server broke down over it (502).
_TOO_MUCH = frozenset({408, 413, 414, 422, 429, 431, 502, 504, 524})
# With these a server may be down; or, where it explains itself, has its reasons.
_MAYBE_TOO_MUCH = frozenset({500, 503})
# Of Prometheus and Mimir, and the status as VictoriaMetrics has it; other statuses, 503
# for one, come with these, too.
_TOO_MUCH_TYPES = frozenset(
    {"execution", "timeout", "too_many_requests", "too_large_entry", "422", "429"}
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A body and, for messages, where it came from.

    Args:
        where: name and address of the server, or of the file.
        secrets: what no message may show.
        verb: a server ``answered``, a file ``holds``.
    """

    body: bytes
    where: str
    secrets: Secrets = field(default_factory=Secrets)
    verb: str = "answered"

    def json(self, kind: type[T]) -> T:
        """The body as *kind*; unknown fields are ignored.

        Raises:
            SourceError: the body is not JSON, or JSON of another shape.
        """
        try:
            return msgspec.json.decode(self.body, type=kind)
        except msgspec.ValidationError as error:
            raise self.error(f"JSON of an unexpected shape ({error})") from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self.error("something that is not JSON") from error

    def error(self, problem: str) -> SourceError:
        """An error with *problem* and the beginning of the answer."""
        return SourceError(
            f"{self.where}: {self.verb} {problem}: {excerpt(self.body, self.secrets)}"
        )


def excerpt(body: bytes, secrets: Secrets) -> str:
    """The beginning of *body*, on one line; of an HTML page its title or its text."""
    text = secrets.hide(body[:65536].decode(errors="replace"))
    if re.match(r"\s*<(!doctype|html|head|body)", text, re.IGNORECASE):
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        content = title[1] if title else re.sub(r"<[^>]*>", " ", text)
        return f"an HTML page, “{_short(content, secrets)}”"
    return _short(text, secrets) or "nothing at all"


def _short(text: str, secrets: Secrets) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = secrets.hide(line)
    return line if len(line) <= EXCERPT else line[:EXCERPT].rstrip() + " …"


def refusal(
    status: int, headers: Mapping[str, str], body: bytes, secrets: Secrets
) -> str:
    """The message for an answer other than 2xx."""
    try:
        name = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        name = str(status)
    if 300 <= status < 400:
        location = headers.get("location", "")
        target = secrets.hide(_address_only(secrets.hide(location)))
        return (
            f"answered {name} and redirects to {target or 'nowhere'}, which may be a "
            "login page; set the final address"
        )
    advice = f"; {_ADVICE[status]}" if status in _ADVICE else ""
    return f"answered {name}: {_reason(body, secrets)}{advice}"


def is_too_much(status: int, body: bytes) -> bool:
    """Whether a smaller question may be answered, by the code of the refusal.

    Never by its words, which differ from server to server: Prometheus and its kin give
    an ``errorType``, proxies a status.
    """
    if status in _TOO_MUCH:
        return True
    try:
        refused = msgspec.json.decode(body, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    if refused.kind in _TOO_MUCH_TYPES:
        return True
    return status in _MAYBE_TOO_MUCH and bool(refused.error)


class _Refusal(msgspec.Struct):
    kind: str = msgspec.field(default="", name="errorType")
    error: str = ""


def _reason(body: bytes, secrets: Secrets) -> str:
    """The server's own message: Grafana's ``message``, Prometheus' ``error``."""
    try:
        fields = msgspec.json.decode(body, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return excerpt(body, secrets)
    parts = [fields.get(name) for name in ("errorType", "error", "message")]
    reason = ": ".join(secrets.hide(part) for part in parts if isinstance(part, str))
    return _short(reason, secrets) if reason.strip() else excerpt(body, secrets)


def _address_only(location: str) -> str:
    """*location* without user, password, query and fragment."""
    try:
        parts = urlsplit(location)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    host = f"{parts.scheme}://{parts.hostname}{port}" if parts.hostname else ""
    return (host + parts.path)[:EXCERPT]
