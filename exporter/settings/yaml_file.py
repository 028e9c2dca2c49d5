"""A YAML file with settings → a mapping, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml


class _DuplicateKeyError(yaml.MarkedYAMLError):
    """A key occurs twice."""


class _Loader(yaml.SafeLoader):
    """Rejects a key that occurs twice: YAML would silently drop the first."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - as it is called
    ) -> dict[Hashable, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen and key.value != "<<":
                raise _DuplicateKeyError(problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_mapping(
    path: Path, *, expected: str, problems: list[str]
) -> Mapping[str, Any]:
    """The file's content; if it cannot be used, an empty mapping and one more problem.

    The parser's own message may repeat a secret, so only the place is shown.

    Args:
        expected: what the file should contain.
        problems: receives what is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")
    except UnicodeError:
        problems.append(f"{path}: not UTF-8 text")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        wrong = "not valid YAML"
        if isinstance(error, _DuplicateKeyError):
            wrong = "the same key a second time"
        problems.append(f"{path}: {wrong}{where}")
    except yaml.YAMLError:
        problems.append(f"{path}: not valid YAML")
    else:
        if content is None or isinstance(content, dict):
            return content or {}
        problems.append(f"{path}: expected {expected}")
    return {}
