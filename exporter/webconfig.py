"""The file of ``--web.config.file``, in exporter-toolkit's form → values. Pure but for
reading the file.

Form: github.com/prometheus/exporter-toolkit, docs/web-configuration.md.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import ConfigurationError
from .settings import nearest
from .yamlfile import read_mapping

# Names of Go's crypto/tls → whether a certificate is asked for, and must be there.
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
    """How to encrypt; paths are absolute or relative to the file's folder."""

    certificate: Path
    key: Path
    client_ca: Path | None = None
    client_auth: str = "NoClientCert"
    least: str = "TLS12"
    most: str = "TLS13"

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that it is made of."""
        more = (self.client_ca,) if self.client_ca else ()
        return (self.certificate, self.key, *more)


@dataclass(frozen=True, slots=True)
class WebConfig:
    """Who may read, and how it is encrypted.

    Args:
        users: bcrypt hashes by name; without any, everyone may.
    """

    tls: Tls | None = None
    users: Mapping[str, str] = field(default_factory=dict)


def load(path: Path) -> WebConfig:
    """Read and check the file.

    Raises:
        ConfigurationError: with all problems, without a hash.
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


def context_of(tls: Tls) -> ssl.SSLContext:
    """Load the certificates.

    Raises:
        ConfigurationError: they cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = VERSIONS[tls.least]
    context.maximum_version = VERSIONS[tls.most]
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except (OSError, ssl.SSLError):
        raise ConfigurationError(
            f"{tls.certificate}, {tls.key}: no certificate and its key in PEM form"
        ) from None
    if tls.client_ca is not None:
        try:
            context.load_verify_locations(tls.client_ca)
        except (OSError, ssl.SSLError):
            raise ConfigurationError(
                f"{tls.client_ca}: no certificates in PEM form"
            ) from None
    context.verify_mode = CLIENT_AUTH[tls.client_auth]
    return context


def _check_names(
    place: str, content: Mapping[str, Any], names: tuple[str, ...], problems: list[str]
) -> None:
    for name in content:
        if name not in names:
            close = nearest(str(name), names) or f"; known are {', '.join(names)}"
            problems.append(f"{place}: {str(name)[:40]}: not supported{close}")


def _users(place: str, found: Any, problems: list[str]) -> dict[str, str]:
    users: dict[str, str] = {}
    if found is None:
        return users
    if not isinstance(found, dict):
        problems.append(f"{place}: basic_auth_users: expected NAME: bcrypt hash")
        return users
    for name, hashed in found.items():
        if not isinstance(hashed, str) or not _BCRYPT.fullmatch(hashed):
            problems.append(
                f"{place}: basic_auth_users: expected bcrypt hashes, "
                "such as htpasswd -nBC 10 NAME prints"
            )
            break
        users[str(name)] = hashed
    return users


def _tls(path: Path, found: Any, problems: list[str]) -> Tls | None:
    place = f"{path}: tls_server_config"
    if not isinstance(found, dict):
        problems.append(f"{place}: expected cert_file and key_file")
        return None
    before = len(problems)
    _check_names(place, found, _TLS, problems)
    files = {}
    for name in ("cert_file", "key_file", "client_ca_file"):
        value = found.get(name)
        if isinstance(value, str) and value:
            files[name] = path.parent / value
        elif name != "client_ca_file" or value is not None:
            problems.append(f"{place}: {name}: expected a path")
    auth = found.get("client_auth_type", "NoClientCert")
    least, most = found.get("min_version", "TLS12"), found.get("max_version", "TLS13")
    for name, value, known in (
        ("client_auth_type", auth, CLIENT_AUTH),
        ("min_version", least, VERSIONS),
        ("max_version", most, VERSIONS),
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
        least,
        most,
    )
