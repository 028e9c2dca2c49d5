"""Flags, environment and YAML file → Settings, or everything that is wrong at once.

A flag takes precedence over the environment, that over the file, that over the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError
from ..postgres.connecting.dsn import Parses, fixed
from .servers import KEYS, Servers, unknown_setting
from .table import SETTINGS, Settings
from .yaml_file import read_mapping

_GROUPS = {
    group: f"such as {name}"
    for group, _, name in reversed([s.path.partition(".") for s in SETTINGS])
}


def load(
    flags: Mapping[str, str],
    environment: Mapping[str, str],
    file: Path | None,
    *,
    parses: Parses,
) -> Settings:
    """Read and check all sources.

    Args:
        flags: texts by path of the setting, and ``dsn``.
        parses: whether libpq can parse a connection string.

    Raises:
        ConfigurationError: with all problems.
    """
    problems: list[str] = []
    content: Mapping[str, Any] = {}
    if file is not None:
        expected = "settings such as dsn_file: …"
        content = read_mapping(file, expected=expected, problems=problems)
    values = _values(flags, content, str(file), problems)
    servers = Servers(str(file), parses, problems)
    main = servers.main(flags, environment, content)
    targets = servers.targets(content.get("targets"))
    if problems:
        raise ConfigurationError(*problems)
    if main is None and not targets:
        main = fixed("")
    return Settings(dsn=main, targets=targets, **values)


def _values(
    flags: Mapping[str, str],
    content: Mapping[str, Any],
    file: str,
    problems: list[str],
) -> dict[str, Any]:
    given: dict[str, tuple[str, Any]] = {}
    known = {setting.path: setting for setting in SETTINGS}
    for path, value in _leaves(content):
        if path in known:
            given[path] = (f"{file}: {path}", value)
        elif path in _GROUPS:
            problems.append(f"{file}: {path}: expected settings {_GROUPS[path]}")
        else:
            names = (*known, *_GROUPS, *KEYS)
            problems.append(f"{file}: {unknown_setting(path, names)}")
    for path, text in flags.items():
        if path in known:
            given[path] = (known[path].flag, text)
    values = {}
    for path, (place, value) in given.items():
        try:
            values[known[path].attribute] = known[path].kind.read(value)
        except ValueError as error:
            problems.append(f"{place}: {error}, got {_shown(value)}")
    return values


def _leaves(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Paths and values, without those that are read elsewhere."""
    for key, value in content.items():
        path = f"{prefix}{key}"
        if path in KEYS:
            continue
        if not prefix and key in _GROUPS and isinstance(value, dict):
            yield from _leaves(value, f"{key}.")
        else:
            yield path, value


def _shown(value: Any) -> str:
    """The value, unless it could be a connection string in the wrong place."""
    if isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str) and re.fullmatch(r"[\w%., /-]{0,20}", value):
        return repr(value)
    return f"a {type(value).__name__}"
