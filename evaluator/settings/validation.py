"""Plain data from a file → typed settings, with every problem told at once.

The settings are msgspec structs. A field's ``Meta(description=…, examples=[…])`` says
what would be right, and is what a person reads when it is not.
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

# What is expected where the field does not say it better.
_LINES = "'name: value' lines"
_PLAIN = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class Duration(float):
    """Seconds; written in a file as ``30m``, ``90s`` or a number of seconds."""


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
    before = len(problems)
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
            # What is missing is told by its own name, with its example.
            _read_struct({}, field.type, f"{at}{name}.", problems)
        elif field.required:
            problems.append(f"{at}{name}: missing{_example(field.type)}")
    if len(problems) > before:
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
        return msgspec.convert(value, kind, dec_hook=_convert_special)
    except (msgspec.ValidationError, ValueError) as error:
        problems.append(f"{at}: {_expected(kind, value) or error}")
        return None


def _convert_special(kind: type, value: object) -> object:
    if kind is Duration and isinstance(value, (str, int, float)):
        return Duration(parse_duration(str(value)))
    raise ValueError("expected a duration such as 30m or 90s")


def _meta(kind: Any) -> Iterable[msgspec.Meta]:
    return (m for m in getattr(kind, "__metadata__", ()) if isinstance(m, msgspec.Meta))


def _bare(kind: Any) -> Any:
    """The type without its notes."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _expected(kind: Any, value: object) -> str:
    """What the field's description, or else its type, says would be right."""
    bare = _bare(kind)
    options = get_args(bare) if isinstance(bare, types.UnionType) else (bare,)
    told = [meta.description for meta in _meta(kind) if meta.description]
    told = told or [_PLAIN[option] for option in options if option in _PLAIN]
    return f"expected {' or '.join(told)}, got {value!r}" if told else ""


def _example(kind: Any) -> str:
    return "".join(
        f"; for example {meta.examples[0]}" for meta in _meta(kind) if meta.examples
    )
