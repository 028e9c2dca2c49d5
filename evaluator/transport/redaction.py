"""Keeps tokens and passwords out of every message (pure)."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

# Masking something shorter would garble every message and hide nothing.
SHORTEST = 4
_SECRET_NAMES = ("auth", "cookie", "key", "password", "secret", "token")


class Secrets:
    """Values that must not be shown, in every form in which a server may echo them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values for form in _forms(value)}
        self._forms = sorted(
            (form for form in forms if len(form) >= SHORTEST), key=len, reverse=True
        )

    def __repr__(self) -> str:
        return f"Secrets({len(self._forms)} forms)"

    def hide(self, text: str) -> str:
        """*text* with ``***`` for each secret in it."""
        for form in self._forms:
            text = text.replace(form, "***")
        return text


def _forms(value: str) -> set[str]:
    return {
        value,
        quote(value, safe=""),
        quote_plus(value),
        html.escape(value),
        json.dumps(value)[1:-1],
        repr(value)[1:-1],
        " ".join(value.split()),
    }


def basic_credentials(user: str, password: str) -> str:
    """What follows ``Basic`` in an Authorization header (RFC 7617, UTF-8)."""
    return base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


def secrets_of(
    token: str, basic: tuple[str, str] | None, headers: Mapping[str, str]
) -> Secrets:
    """Everything that a client with these credentials must not show."""
    values = [token]
    if basic is not None:
        values += [basic[1], ":".join(basic), basic_credentials(*basic)]
    values += [
        value
        for name, value in headers.items()
        if any(part in name.lower() for part in _SECRET_NAMES)
    ]
    return Secrets(values)


def unsendable(value: str) -> bool:
    """Whether *value* cannot be part of an HTTP header."""
    return not value.isascii() or not value.isprintable()
