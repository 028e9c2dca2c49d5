"""Flags, environment and YAML file → Settings, or everything that is wrong at once.

A flag wins over the environment, that over the file, that over the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import dsn
from .dsn import Dsn
from .errors import ConfigurationError
from .settings import SETTINGS, Settings, nearest
from .yamlfile import read_mapping

TARGET_NAME = re.compile(r"[A-Za-z0-9_.-]{1,63}")
_NAME = re.compile(r"[a-z][a-z_.]{0,39}")
_TOP = ("dsn", "dsn_file", "targets")
_GROUPS = {
    group: f"such as {name}"
    for group, _, name in reversed([s.path.partition(".") for s in SETTINGS])
}


def load(
    flags: Mapping[str, str], environment: Mapping[str, str], file: Path | None
) -> Settings:
    """Put the sources together.

    Args:
        flags: texts by path of the setting, and ``dsn``.

    Raises:
        ConfigurationError: with all problems.
    """
    problems: list[str] = []
    content: Mapping[str, Any] = {}
    if file is not None:
        expected = "settings such as dsn_file: …"
        content = read_mapping(file, expected=expected, problems=problems)
    values = _values(flags, content, str(file), problems)
    main = _main_dsn(flags, environment, content, str(file), problems)
    targets = _targets(content.get("targets"), str(file), problems)
    if problems:
        raise ConfigurationError(*problems)
    if main is None and not targets:
        main = dsn.fixed("")
    return Settings(dsn=main, targets=targets, **values)


def _values(
    flags: Mapping[str, str],
    content: Mapping[str, Any],
    file: str,
    problems: list[str],
) -> dict[str, Any]:
    found: dict[str, tuple[str, Any]] = {}
    known = {setting.path: setting for setting in SETTINGS}
    for path, value in _leaves(content):
        if path in known:
            found[path] = (f"{file}: {path}", value)
        elif path in _GROUPS:
            problems.append(f"{file}: {path}: expected settings {_GROUPS[path]}")
        else:
            problems.append(f"{file}: {_unknown(path, (*known, *_GROUPS, *_TOP))}")
    for path, text in flags.items():
        if path in known:
            found[path] = (known[path].flag, text)
    values = {}
    for path, (place, value) in found.items():
        try:
            values[known[path].attribute] = known[path].read(value)
        except ValueError as error:
            problems.append(f"{place}: {error}, got {_shown(value)}")
    return values


def _leaves(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Paths and values, without what is read elsewhere."""
    for key, value in content.items():
        path = f"{prefix}{key}"
        if path in _TOP:
            continue
        if not prefix and key in _GROUPS and isinstance(value, dict):
            yield from _leaves(value, f"{key}.")
        else:
            yield path, value


def _unknown(path: str, names: tuple[str, ...]) -> str:
    if not _NAME.fullmatch(path):
        return "a key that is no name of a setting"
    return f"{path}: unknown setting{nearest(path, names)}"


def _shown(value: Any) -> str:
    """The value, unless it could be a connection string at the wrong place."""
    if isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str) and re.fullmatch(r"[\w%., /-]{0,20}", value):
        return repr(value)
    return f"a {type(value).__name__}"


def _main_dsn(
    flags: Mapping[str, str],
    environment: Mapping[str, str],
    content: Mapping[str, Any],
    file: str,
    problems: list[str],
) -> Dsn | None:
    if "dsn" in flags:
        return _checked("--dsn", flags["dsn"], problems)
    text, path = environment.get("PGVERDICT_DSN"), environment.get("PGVERDICT_DSN_FILE")
    if text is not None and path is not None:
        problems.append("PGVERDICT_DSN, PGVERDICT_DSN_FILE: both are set; keep one")
    elif text is not None:
        return _checked("PGVERDICT_DSN", text, problems)
    elif path is not None:
        return _checked_file("PGVERDICT_DSN_FILE", path, problems)
    if "dsn" in content or "dsn_file" in content:
        return _from_mapping(f"{file}: ", content, problems)
    return None


def _targets(found: Any, file: str, problems: list[str]) -> dict[str, Dsn]:
    targets: dict[str, Dsn] = {}
    if found is None:
        return targets
    if not isinstance(found, dict):
        problems.append(f"{file}: targets: expected NAME: {{dsn_file: PATH}}")
        return targets
    for name, value in found.items():
        if not isinstance(name, str) or not TARGET_NAME.fullmatch(name):
            problems.append(
                f"{file}: targets: a name that is none; "
                "expected letters, digits, '-', '_' and '.', such as orders-db"
            )
            continue
        place = f"{file}: targets.{name}"
        if not isinstance(value, dict):
            problems.append(f"{place}: expected {{dsn: …}} or {{dsn_file: PATH}}")
            continue
        problems += [
            f"{place}.{_unknown(str(key), ('dsn', 'dsn_file'))}"
            for key in value
            if key not in ("dsn", "dsn_file")
        ]
        target = _from_mapping(f"{place}.", value, problems)
        if target is not None:
            targets[name] = target
    return targets


def _from_mapping(
    place: str, found: Mapping[str, Any], problems: list[str]
) -> Dsn | None:
    if ("dsn" in found) == ("dsn_file" in found):
        problems.append(f"{place}dsn, {place}dsn_file: give exactly one of them")
        return None
    if "dsn" in found:
        return _checked(f"{place}dsn", found["dsn"], problems)
    return _checked_file(f"{place}dsn_file", found["dsn_file"], problems)


def _checked(place: str, text: Any, problems: list[str]) -> Dsn | None:
    wrong = dsn.wrong_with(text) if isinstance(text, str) else "expected text"
    if wrong:
        problems.append(f"{place}: {wrong}")
        return None
    return dsn.fixed(text)


def _checked_file(place: str, path: Any, problems: list[str]) -> Dsn | None:
    wrong = "expected a path"
    if isinstance(path, str) and path:
        wrong = dsn.wrong_with_file(Path(path)) or ""
    if wrong:
        problems.append(f"{place}: {wrong}")
        return None
    return dsn.from_file(Path(path))
