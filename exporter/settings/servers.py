"""Which servers: the connection string of the main one, and the named targets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..postgres.connecting.dsn import (
    Dsn,
    Parses,
    fixed,
    from_file,
    wrong_with,
    wrong_with_file,
)
from .nearest import nearest

TARGET_NAME = re.compile(r"[A-Za-z0-9_.-]{1,63}")
KEYS = ("dsn", "dsn_file", "targets")
VARIABLES = ("PGVERDICT_DSN", "PGVERDICT_DSN_FILE")


class Servers:
    """Reads connection strings from flags, environment and file.

    Args:
        file: name of the configuration file, for the problems.
        parses: whether libpq can parse a connection string.
        problems: receives what is wrong, never with a part of a connection string.
    """

    def __init__(self, file: str, parses: Parses, problems: list[str]) -> None:
        self._file = file
        self._parses = parses
        self._problems = problems

    def main(
        self,
        flags: Mapping[str, str],
        environment: Mapping[str, str],
        content: Mapping[str, Any],
    ) -> Dsn | None:
        """The server behind the telemetry path, if any is configured."""
        if "dsn" in flags:
            return self._checked("--dsn", flags["dsn"])
        text, path = (environment.get(name) for name in VARIABLES)
        if text is not None and path is not None:
            self._problems.append(f"{', '.join(VARIABLES)}: both are set; keep one")
        elif text is not None:
            return self._checked(VARIABLES[0], text)
        elif path is not None:
            return self._checked_file(VARIABLES[1], path)
        if "dsn" in content or "dsn_file" in content:
            return self._from_mapping(f"{self._file}: ", content)
        return None

    def targets(self, value: Any) -> dict[str, Dsn]:
        """The named servers behind /probe, from the file's key ``targets``."""
        targets: dict[str, Dsn] = {}
        if value is None:
            return targets
        if not isinstance(value, dict):
            self._wrong("targets: expected NAME: {dsn_file: PATH}")
            return targets
        for name, mapping in value.items():
            target = self._target(name, mapping)
            if target is not None:
                targets[name] = target
        return targets

    def _target(self, name: Any, mapping: Any) -> Dsn | None:
        if not isinstance(name, str) or not TARGET_NAME.fullmatch(name):
            self._wrong(
                "targets: a name is not valid; "
                "expected letters, digits, '-', '_' and '.', such as orders-db"
            )
            return None
        if not isinstance(mapping, dict):
            self._wrong(f"targets.{name}: expected {{dsn: …}} or {{dsn_file: PATH}}")
            return None
        for key in mapping:
            if key not in ("dsn", "dsn_file"):
                unknown = unknown_setting(str(key), ("dsn", "dsn_file"))
                self._wrong(f"targets.{name}.{unknown}")
        return self._from_mapping(f"{self._file}: targets.{name}.", mapping)

    def _wrong(self, problem: str) -> None:
        self._problems.append(f"{self._file}: {problem}")

    def _from_mapping(self, place: str, mapping: Mapping[str, Any]) -> Dsn | None:
        if ("dsn" in mapping) == ("dsn_file" in mapping):
            self._problems.append(
                f"{place}dsn, {place}dsn_file: give exactly one of them"
            )
            return None
        if "dsn" in mapping:
            return self._checked(f"{place}dsn", mapping["dsn"])
        return self._checked_file(f"{place}dsn_file", mapping["dsn_file"])

    def _checked(self, place: str, text: Any) -> Dsn | None:
        wrong = "expected text"
        if isinstance(text, str):
            wrong = wrong_with(text, self._parses) or ""
        if wrong:
            self._problems.append(f"{place}: {wrong}")
            return None
        return fixed(text)

    def _checked_file(self, place: str, path: Any) -> Dsn | None:
        wrong = "expected a path"
        if isinstance(path, str) and path:
            wrong = wrong_with_file(Path(path), self._parses) or ""
        if wrong:
            self._problems.append(f"{place}: {wrong}")
            return None
        return from_file(Path(path))


_NAME = re.compile(r"[a-z][a-z_.]{0,39}")


def unknown_setting(path: str, names: tuple[str, ...]) -> str:
    """What is wrong with a key; only one that looks like a setting is repeated."""
    if not _NAME.fullmatch(path):
        return "a key is not the name of a setting"
    return f"{path}: unknown setting{nearest(path, names)}"
