"""Keeps tokens and passwords out of every sentence (pure)."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

# Blotting out something shorter would spoil every sentence and hide nothing.
SHORTEST = 4
_SECRET_NAMES = ("auth", "cookie", "key", "password", "secret", "token")


class Secrets:
    """Words that must not be shown, in every form in which a server may echo them."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        forms = {form for word in words for form in _forms(word)}
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


def _forms(word: str) -> set[str]:
    return {
        word,
        quote(word, safe=""),
        quote_plus(word),
        html.escape(word),
        json.dumps(word)[1:-1],
        repr(word)[1:-1],
        " ".join(word.split()),
    }


def basic_credentials(user: str, password: str) -> str:
    """What follows ``Basic`` in an Authorization header (RFC 7617, UTF-8)."""
    return base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


def secrets_of(
    token: str, basic: tuple[str, str] | None, headers: Mapping[str, str]
) -> Secrets:
    """All that one client must not show."""
    words = [token]
    if basic is not None:
        words += [basic[1], ":".join(basic), basic_credentials(*basic)]
    words += [
        value
        for name, value in headers.items()
        if any(part in name.lower() for part in _SECRET_NAMES)
    ]
    return Secrets(words)


def unsendable(value: str) -> bool:
    """Whether *value* cannot be part of an HTTP header."""
    return not value.isascii() or not value.isprintable()
