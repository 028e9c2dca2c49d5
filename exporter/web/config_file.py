"""The file of ``--web.config.file``, in the format of exporter-toolkit → values.

Format: github.com/prometheus/exporter-toolkit, docs/web-configuration.md.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError
from ..settings.nearest import nearest
from ..settings.yaml_file import read_mapping

# Names of Go's crypto/tls → whether a certificate is requested, and required.
CLIENT_AUTH = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
_BCRYPT = re.compile(r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}")
_TOP = ("tls_server_config", "basic_auth_users")
_TLS = (
    "cert_file",
    "key_file",
    "client_ca_file",
    "client_auth_type",
    "min_version",
    "max_version",
)


@dataclass(frozen=True, slots=True)
class Tls:
    """How to encrypt; paths are absolute or relative to the folder of the file."""

    certificate: Path
    key: Path
    client_ca: Path | None
    client_auth: str
    min_version: str
    max_version: str

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that it consists of."""
        more = (self.client_ca,) if self.client_ca else ()
        return (self.certificate, self.key, *more)


@dataclass(frozen=True, slots=True)
class WebConfig:
    """Who may read, and how it is encrypted.

    Args:
        users: bcrypt hashes by name; if empty, everyone may read.
    """

    tls: Tls | None = None
    users: Mapping[str, str] = field(default_factory=dict)


def load(path: Path) -> WebConfig:
    """Read and check the file.

    Raises:
        ConfigurationError: with all problems, none of which shows a hash.
    """
    problems: list[str] = []
    expected = "tls_server_config or basic_auth_users"
    content = read_mapping(path, expected=expected, problems=problems)
    _check_names(str(path), content, _TOP, problems)
    users = _users(str(path), content.get("basic_auth_users"), problems)
    tls = None
    if content.get("tls_server_config") is not None:
        tls = _tls(path, content["tls_server_config"], problems)
    if problems:
        raise ConfigurationError(*problems)
    return WebConfig(tls, users)


def tls_context(tls: Tls) -> ssl.SSLContext:
    """Load the certificates.

    Raises:
        ConfigurationError: they cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = VERSIONS[tls.min_version]
    context.maximum_version = VERSIONS[tls.max_version]
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except (OSError, ssl.SSLError):
        raise ConfigurationError(
            f"{tls.certificate}, {tls.key}: not a certificate and its key in PEM format"
        ) from None
    if tls.client_ca is not None:
        try:
            context.load_verify_locations(tls.client_ca)
        except (OSError, ssl.SSLError):
            raise ConfigurationError(
                f"{tls.client_ca}: not certificates in PEM format"
            ) from None
    context.verify_mode = CLIENT_AUTH[tls.client_auth]
    return context


def _check_names(
    place: str, content: Mapping[str, Any], names: tuple[str, ...], problems: list[str]
) -> None:
    for name in content:
        if name not in names:
            close = nearest(str(name), names) or f"; supported: {', '.join(names)}"
            problems.append(f"{place}: {str(name)[:40]}: not supported{close}")


def _users(place: str, value: Any, problems: list[str]) -> dict[str, str]:
    users: dict[str, str] = {}
    if value is None:
        return users
    if not isinstance(value, dict):
        problems.append(f"{place}: basic_auth_users: expected NAME: bcrypt hash")
        return users
    for name, hashed in value.items():
        if not isinstance(hashed, str) or not _BCRYPT.fullmatch(hashed):
            problems.append(
                f"{place}: basic_auth_users: expected bcrypt hashes, "
                "such as htpasswd -nBC 10 NAME prints"
            )
            break
        users[str(name)] = hashed
    return users


def _tls(path: Path, content: Any, problems: list[str]) -> Tls | None:
    place = f"{path}: tls_server_config"
    if not isinstance(content, dict):
        problems.append(f"{place}: expected cert_file and key_file")
        return None
    before = len(problems)
    _check_names(place, content, _TLS, problems)
    files = {}
    for name in ("cert_file", "key_file", "client_ca_file"):
        value = content.get(name)
        if isinstance(value, str) and value:
            files[name] = path.parent / value
        elif name != "client_ca_file" or value is not None:
            problems.append(f"{place}: {name}: expected a path")
    auth = content.get("client_auth_type", "NoClientCert")
    oldest = content.get("min_version", "TLS12")
    newest = content.get("max_version", "TLS13")
    for name, value, known in (
        ("client_auth_type", auth, CLIENT_AUTH),
        ("min_version", oldest, VERSIONS),
        ("max_version", newest, VERSIONS),
    ):
        if value not in known:
            problems.append(f"{place}: {name}: expected one of {', '.join(known)}")
    if auth != "NoClientCert" and "client_ca_file" not in files:
        problems.append(f"{place}: client_ca_file: needed to verify clients")
    if len(problems) > before:
        return None
    return Tls(
        files["cert_file"],
        files["key_file"],
        files.get("client_ca_file"),
        auth,
        oldest,
        newest,
    )
