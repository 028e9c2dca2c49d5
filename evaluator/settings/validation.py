"""Plain data from a file → typed settings, with every problem reported at once.

The settings are msgspec structs. A field's ``Meta(description=…, examples=[…])`` says
what a valid value is; error messages quote it.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec

from ..errors import ConfigurationError
from ..units import parse_duration

T = TypeVar("T", bound=msgspec.Struct)

# What is expected where the field has no description.
_LINES = "'name: value' lines"
_PLAIN = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class Duration(float):
    """Seconds; written in a file with a unit, as ``30m`` or ``90s``."""


def read_settings(data: object, kind: type[T], source: str) -> T:
    """Build *kind* from parsed YAML.

    Args:
        source: name of the file, the first part of every message.

    Raises:
        ConfigurationError: one line for each problem, in the order of the file.
    """
    problems: list[str] = []
    settings = _read_struct(data, kind, f"{source}: ", problems)
    if problems or settings is None:
        raise ConfigurationError(*problems)
    return settings


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean "x"?`` for the most similar known name, or what is known."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f'; did you mean "{close[0]}"?'
    return f"; known are {', '.join(sorted(names))}"


def _read_struct(data: object, kind: type[T], at: str, problems: list[str]) -> T | None:
    if data is None:  # A heading whose lines are all comments.
        data = {}
    if not isinstance(data, Mapping):
        place = f"{at[:-1]}: " if at.endswith(".") else at
        problems.append(f"{place}expected settings as {_LINES}")
        return None
    reported = len(problems)
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    problems.extend(
        f"{at}{name}: unknown setting{nearest(str(name), fields)}"
        for name in data
        if name not in fields
    )
    values: dict[str, Any] = {}
    for name, field in fields.items():
        if name in data:
            values[name] = _read_value(data[name], field.type, at + name, problems)
        elif field.required and _is_struct(field.type):
            # Report the required settings inside, each with its own example.
            _read_struct({}, field.type, f"{at}{name}.", problems)
        elif field.required:
            problems.append(f"{at}{name}: missing{_example(field.type)}")
    if len(problems) > reported:
        return None
    try:
        return kind(**values)
    except ValueError as error:
        problems.extend(f"{at}{line}" for line in str(error).splitlines())
        return None


def _read_value(value: object, kind: Any, at: str, problems: list[str]) -> Any:
    bare = _bare(kind)
    optional = isinstance(bare, types.UnionType)
    for option in get_args(bare) if optional else (bare,):
        if _is_struct(option):
            if value is None and optional:
                return None
            return _read_struct(value, option, f"{at}.", problems)
    if bare is Duration:
        return _read_duration(value, at, problems)
    origin, inner = get_origin(bare), get_args(bare)
    if origin is tuple:
        if not isinstance(value, list):
            problems.append(f"{at}: expected a list of '- …' lines, got {value!r}")
            return None
        items = (
            _read_value(item, inner[0], f"{at}[{i}]", problems)
            for i, item in enumerate(value)
        )
        return tuple(items)
    if origin is dict:
        if not isinstance(value, Mapping):
            problems.append(f"{at}: expected {_LINES}, got {value!r}")
            return None
        return {
            str(name): _read_value(item, inner[1], f"{at}.{name}", problems)
            for name, item in value.items()
        }
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        problems.append(f"{at}: {_expected(kind, value) or error}")
        return None


def _read_duration(value: object, at: str, problems: list[str]) -> Duration | None:
    try:
        return Duration(parse_duration(str(value)))
    except ValueError as error:
        problems.append(f"{at}: {error}")
        return None


def _meta(kind: Any) -> Iterable[msgspec.Meta]:
    return (m for m in getattr(kind, "__metadata__", ()) if isinstance(m, msgspec.Meta))


def _bare(kind: Any) -> Any:
    """The type without its annotations."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _expected(kind: Any, value: object) -> str:
    """The message with the field's description, or that of its type; or nothing."""
    bare = _bare(kind)
    options = get_args(bare) if isinstance(bare, types.UnionType) else (bare,)
    valid = [meta.description for meta in _meta(kind) if meta.description]
    valid = valid or [_PLAIN[option] for option in options if option in _PLAIN]
    return f"expected {' or '.join(valid)}, got {value!r}" if valid else ""


def _example(kind: Any) -> str:
    return "".join(
        f"; for example {meta.examples[0]}" for meta in _meta(kind) if meta.examples
    )
