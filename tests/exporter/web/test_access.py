"""The web configuration file: TLS, client certificates, basic auth, changes."""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bcrypt
import pytest
import requests
import trustme

from exporter.cli import settings_from
from exporter.errors import ConfigurationError
from exporter.web.access import Access
from exporter.web.config_file import WebConfig, load

from ..exporting import ANY_PORT, running

HASH = bcrypt.hashpw(b"right", bcrypt.gensalt(4)).decode()
OTHER = bcrypt.hashpw(b"other", bcrypt.gensalt(4)).decode()
TLS = "tls_server_config: {cert_file: cert.pem, key_file: key.pem"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def folder(tmp_path: Path, authority: trustme.CA) -> Path:
    certify(tmp_path, authority)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return tmp_path


def certify(folder: Path, authority: trustme.CA) -> None:
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "cert.pem")


def written(folder: Path, text: str) -> Path:
    """The file, with a modification time that no earlier write had."""
    file = folder / "web.yml"
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(time.time_ns(), time.time_ns()))
    return file


@contextmanager
def serving(file: Path) -> Iterator[str]:
    """The address, without scheme, of an exporter whose server is down."""
    flags = ["--dsn", "host=127.0.0.1 port=1 user=a", f"--web.config.file={file}"]
    with running(settings_from([*flags, ANY_PORT], {})) as exporter:
        yield exporter.url.removeprefix("http://")


def status(url: str, **options: object) -> int:
    return requests.get(url, timeout=5, **options).status_code  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/", "/metrics", "/probe", "/-/healthy", "/-/ready"])
def test_every_page_requires_name_and_password(folder: Path, path: str) -> None:
    file = written(folder, f"basic_auth_users: {{admin: '{HASH}'}}")

    with serving(file) as address:
        reply = requests.get(f"http://{address}{path}", timeout=5)

    assert reply.status_code == 401
    assert reply.headers["WWW-Authenticate"].startswith("Basic ")


@pytest.mark.parametrize(
    ("credentials", "expected"),
    [
        (("admin", "right"), 200),
        (("admin", "wrong"), 401),
        (("admin", ""), 401),
        (("admin", "r" * 100), 401),
        (("nobody", "right"), 401),
        (("nobody", ""), 401),
    ],
)
def test_only_the_right_password_gives_access(
    folder: Path, credentials: tuple[str, str], expected: int
) -> None:
    file = written(folder, f"basic_auth_users: {{admin: '{HASH}'}}")

    with serving(file) as address:
        url = f"http://{address}/-/healthy"
        answers = [status(url, auth=credentials) for _ in range(2)]

    assert answers == [expected] * 2


@pytest.mark.parametrize(
    "header", ["Basic", "Basic !!!", "Bearer x", "Basic /w==", "basic "]
)
def test_a_malformed_header_gives_no_access(folder: Path, header: str) -> None:
    access = Access(written(folder, f"basic_auth_users: {{admin: '{HASH}'}}"))

    assert not access.allows(header)


def test_a_changed_password_applies_from_the_next_request_on(folder: Path) -> None:
    file = written(folder, f"basic_auth_users: {{admin: '{HASH}'}}")

    with serving(file) as address:
        url = f"http://{address}/-/healthy"
        before = status(url, auth=("admin", "right"))
        written(folder, f"basic_auth_users: {{admin: '{OTHER}'}}")
        after = [status(url, auth=("admin", p)) for p in ("right", "other")]

    assert (before, after) == (200, [401, 200])


def test_a_broken_change_leaves_the_access_as_it_was(folder: Path) -> None:
    file = written(folder, f"basic_auth_users: {{admin: '{HASH}'}}")

    with serving(file) as address:
        url = f"http://{address}/-/healthy"
        written(folder, "basic_auth_users: {admin: plain")
        answers = [status(url), status(url, auth=("admin", "right"))]

    assert answers == [401, 200]


def test_pages_are_encrypted(folder: Path) -> None:
    with serving(written(folder, TLS + "}")) as address:
        reply = requests.get(
            f"https://{address}/metrics", verify=str(folder / "ca.pem"), timeout=5
        )

    assert reply.status_code == 200
    assert "pg_up 0" in reply.text


def test_a_renewed_certificate_is_used_from_the_next_connection_on(
    folder: Path, authority: trustme.CA
) -> None:
    def served(address: str) -> str:
        host, port = address.split(":")
        return ssl.get_server_certificate((host, int(port)), timeout=5)

    with serving(written(folder, TLS + "}")) as address:
        before = served(address)
        certify(folder, authority)
        after = served(address)

    assert before != after
    assert after.strip() == (folder / "cert.pem").read_text("utf-8").strip()


def test_clients_without_a_certificate_are_rejected(
    folder: Path, authority: trustme.CA
) -> None:
    client = folder / "client.pem"
    authority.issue_cert(
        "prometheus@example"
    ).private_key_and_cert_chain_pem.write_to_path(client)
    text = (
        f"{TLS}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert}}"
    )

    with serving(written(folder, text)) as address:
        url, verify = f"https://{address}/-/healthy", str(folder / "ca.pem")
        known = status(url, verify=verify, cert=str(client))
        with pytest.raises(requests.ConnectionError):
            status(url, verify=verify)

    assert known == 200


def test_a_silent_client_does_not_block_others(folder: Path) -> None:
    with serving(written(folder, TLS + "}")) as address:
        host, port = address.split(":")
        silent = [socket.create_connection((host, int(port))) for _ in range(5)]
        started = time.monotonic()
        answer = status(f"https://{address}/-/healthy", verify=str(folder / "ca.pem"))
        took = time.monotonic() - started
        for client in silent:
            client.close()

    assert answer == 200
    assert took < 3


def test_a_client_without_tls_does_no_harm(folder: Path) -> None:
    with serving(written(folder, TLS + "}")) as address:
        with pytest.raises(requests.ConnectionError):
            status(f"http://{address}/-/healthy")

        assert (
            status(f"https://{address}/-/healthy", verify=str(folder / "ca.pem")) == 200
        )


def test_an_old_version_of_tls_is_refused(folder: Path) -> None:
    with serving(written(folder, TLS + ", min_version: TLS13}")) as address:
        host, port = address.split(":")
        old = ssl.create_default_context(cafile=str(folder / "ca.pem"))
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        with (
            socket.create_connection((host, int(port)), timeout=5) as plain,
            pytest.raises(ssl.SSLError),
        ):
            old.wrap_socket(plain, server_hostname="127.0.0.1")


def test_an_empty_file_changes_nothing(folder: Path) -> None:
    assert load(written(folder, "")) == WebConfig()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tls_server_confg: {}", 'did you mean "tls_server_config"?'),
        ("http_server_config: {http2: true}", "not supported"),
        ("basic_auth_users: {admin: secret}", "expected bcrypt hashes"),
        ("basic_auth_users: [admin]", "expected NAME: bcrypt hash"),
        ("tls_server_config: 3", "expected cert_file and key_file"),
        ("tls_server_config: {cert_file: a}", "key_file: expected a path"),
        (f"{TLS}, min_version: TLS9}}", "expected one of TLS12, TLS13"),
        (f"{TLS}, client_auth_type: Maybe}}", "expected one of NoClientCert"),
        (
            f"{TLS}, client_auth_type: RequireAndVerifyClientCert}}",
            "client_ca_file: needed",
        ),
        (f"{TLS}, cipher_suites: []}}", "cipher_suites: not supported"),
        ("tls_server_config: {cert_file: ca.pem, key_file: key.pem}", "its key"),
        (f"{TLS}, client_ca_file: none.pem}}", "none.pem: not certificates"),
        ("- a", "expected tls_server_config or basic_auth_users"),
        ("a: [", "not valid YAML at line 1"),
        ("basic_auth_users: {a: b, a: c}", "the same key a second time"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported_at_the_start(
    folder: Path, text: str, message: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Access(written(folder, text))

    assert message in str(raised.value)
    assert "secret" not in str(raised.value)
