"""docs/configuration.md has every setting of the evaluator, with its default."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Annotated, Any, get_args, get_origin

import msgspec
import pytest

from evaluator.settings.schema import Config, load
from evaluator.settings.validation import Duration
from evaluator.sources.profiles import PROFILES
from evaluator.triggers.annotation_patterns import Matcher
from evaluator.units import write_duration

from .pages import CONFIGURATION, blocks, table_rows


def settings(kind: Any = Config, at: str = "") -> Iterator[tuple[str, str]]:
    """Path and default, as the page writes them, of every setting."""
    for field in msgspec.structs.fields(kind):
        path = at + field.name
        inner = struct_in(field.type)
        if inner is not None:
            listed = get_origin(field.type) is tuple
            yield from settings(inner, f"{path}[]." if listed else f"{path}.")
        else:
            yield path, "required" if field.required else written(default(field))


def struct_in(kind: Any) -> Any:
    """The struct that *kind* is or holds."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    for option in get_args(kind) or (kind,):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return option
    return None


def default(field: msgspec.structs.FieldInfo) -> object:
    made = field.default_factory
    return field.default if made is msgspec.NODEFAULT else made()


def written(value: object) -> str:
    if value == Matcher().tag_patterns:
        return "below"
    if value in ("", (), {}):
        return "none"
    if isinstance(value, Duration):
        return write_duration(value)
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def documented() -> dict[str, str]:
    known = dict(settings())
    return {
        cells[0]: cells[1]
        for cells in table_rows(CONFIGURATION)
        if cells[0] in known or ("." in cells[0] and " " not in cells[0])
    }


def test_every_setting_is_on_the_page_and_every_default_is_that_of_the_code():
    assert documented() == dict(settings())
    assert len(documented()) > 40


def test_every_name_of_a_profile_is_on_the_page():
    profile = PROFILES["pgverdict"]
    names = {
        field.name: f"{value:g}" if isinstance(value, float) else value
        for field in fields(profile)
        for value in [getattr(profile, field.name)]
    }
    rows = {cells[0]: cells[1] for cells in table_rows(CONFIGURATION)}

    assert {name: rows.get(name) for name in names} == names


def test_the_example_is_valid(tmp_path):
    (tmp_path / "evaluator.yml").write_text(blocks(CONFIGURATION, "yaml")[0])

    config = load(tmp_path / "evaluator.yml")

    assert config.engine.settings().window == 2700
    assert config.selector_for("shop") == 'job="postgres",cluster="shop"'


@pytest.fixture
def matchers(tmp_path):
    """The matchers of each example of the section deploys."""
    read: list[Matcher] = []
    for number, text in enumerate(blocks(CONFIGURATION, "yaml")[1:]):
        path = tmp_path / f"{number}.yml"
        path.write_text("prometheus: {url: 'http://p'}\n" + text)
        read += load(path).matchers
    return read


def test_the_default_patterns_are_those_on_the_page(matchers):
    assert matchers[0] == Matcher()


def test_the_other_pattern_reads_the_text_it_is_made_for(matchers):
    match = re.search(matchers[1].text_patterns[0], "shop v42 to production")

    assert match is not None
    assert match.groupdict() == {
        "service": "shop",
        "version": "v42",
        "environment": "production",
    }
