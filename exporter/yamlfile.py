"""A YAML file with settings → a mapping, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def read_mapping(
    path: Path, *, expected: str, problems: list[str]
) -> Mapping[str, Any]:
    """The file's content; an empty mapping, and one problem more, where it is none.

    The parser's own words may repeat a secret, so ours tell only the place.

    Args:
        expected: what should stand in the file.
        problems: gets what is wrong.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")
    except UnicodeError:
        problems.append(f"{path}: no UTF-8 text")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problems.append(f"{path}: no valid YAML{where}")
    except yaml.YAMLError:
        problems.append(f"{path}: no valid YAML")
    else:
        if content is None or isinstance(content, dict):
            return content or {}
        problems.append(f"{path}: expected {expected}")
    return {}
