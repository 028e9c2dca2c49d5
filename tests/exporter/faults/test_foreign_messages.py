"""Servers that refuse a login in another language; no server here has the catalogs."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from ..exporting import PG_UP, exporting, reasons

GERMAN = ("SCHWERWIEGEND", "Passwort-Authentifizierung für Benutzer »x« fehlgeschlagen")
JAPANESE = ("致命的", 'ユーザー"x"のパスワード認証に失敗しました')
RUSSIAN = ("ВАЖНО", "пользователь не прошёл проверку подлинности (по паролю)")
CHINESE = ("致命错误", '用户 "x" Password 认证失败')


def refusal(severity: str, message: str) -> bytes:
    """ErrorResponse. Source: PostgreSQL documentation, 53.7."""
    fields = (("S", severity), ("V", "FATAL"), ("C", "28P01"), ("M", message))
    body = b"".join(f"{name}{value}".encode() + b"\0" for name, value in fields)
    return b"E" + struct.pack("!I", len(body) + 5) + body + b"\0"


@contextmanager
def refusing(answer: bytes) -> Iterator[str]:
    """A port that gives every login the same answer; its connection string."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def serve() -> None:
            while True:
                try:
                    client, _ = listening.accept()
                except OSError:
                    return
                with client:
                    client.recv(1000)
                    client.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        port = listening.getsockname()[1]
        yield f"host=127.0.0.1 port={port} user=x dbname=x sslmode=disable"


@pytest.mark.parametrize("texts", [GERMAN, JAPANESE, RUSSIAN, CHINESE])
def test_a_refused_login_is_not_an_unreachable_server(texts: tuple[str, str]) -> None:
    with refusing(refusal(*texts)) as dsn, exporting(dsn) as exporter:
        scraped = exporter.scrape()

    assert (scraped[PG_UP], reasons(scraped)) == (0, {"rejected"})


def test_a_closed_port_is_not_a_refused_login() -> None:
    with exporting("host=127.0.0.1 port=1 user=x dbname=x") as exporter:
        scraped = exporter.scrape()

    assert reasons(scraped) == {"unreachable"}
