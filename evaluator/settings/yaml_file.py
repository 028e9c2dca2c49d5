"""A YAML file → plain data, or an error that names the file and the line."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from ..errors import ConfigurationError


class _Loader(yaml.SafeLoader):
    """Refuses a key that is there twice: the first value would be lost silently."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - PyYAML passes it by position
    ) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen and key.value != "<<":
                problem = f"{key.value} is there twice"
                raise yaml.constructor.ConstructorError(
                    problem=problem, problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> object:
    """Read *path* as YAML.

    Raises:
        ConfigurationError: the file cannot be read or is not valid YAML; the message
            does not repeat its content, which may hold a secret.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read: {error.strerror}; name another with --config.file"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: is not UTF-8 text") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}: is not valid YAML{_place(error)}") from error


def _place(error: yaml.YAMLError) -> str:
    """Line and reason of a YAML error, without the text around it."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return ""
    return f": line {mark.line + 1}: {getattr(error, 'problem', '')}"
