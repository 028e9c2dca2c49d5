"""Secrets come from a file that a setting names, or from the environment.

They never stand in the configuration file itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import ConfigurationError


def secret(
    name: str, file: str, environ: Mapping[str, str] = os.environ, *, setting: str = ""
) -> str:
    """Read a secret from *file*, ``NAME_FILE`` or ``NAME``; empty if none is set.

    Args:
        name: of the environment variable.
        file: path, empty if not configured.
        setting: which setting named the file, for messages.

    Raises:
        ConfigurationError: the file cannot be read or is empty; the message never
            shows its content.
    """
    path = file or environ.get(f"{name}_FILE", "")
    if not path:
        return environ.get(name, "")
    place = setting if file else f"{name}_FILE"
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigurationError(f"{place}: {path} cannot be read: {reason}") from error
    if not value:
        raise ConfigurationError(f"{place}: {path} is empty; it should hold the secret")
    return value
