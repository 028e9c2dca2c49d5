"""Settings from a file: every problem is reported at once, with what would be right."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from evaluator.errors import ConfigurationError
from evaluator.settings.validation import Duration, read_settings


class Inner(msgspec.Struct, frozen=True):
    threshold: Annotated[
        float, Meta(ge=0, description="a fraction such as 0.2 for +20 %")
    ] = 0.2
    tolerance: Duration = Duration(120)


class Outer(msgspec.Struct, frozen=True):
    url: Annotated[str, Meta(examples=["http://localhost:9090"])]
    inner: Inner = Inner()
    maybe: Inner | None = None
    several: tuple[Inner, ...] = ()
    names: dict[str, int] = {}

    def __post_init__(self):
        if self.url == "odd":
            raise ValueError("url: is odd\nurl: very odd")


class Holding(msgspec.Struct, frozen=True):
    outer: Outer


def problems(data):
    with pytest.raises(ConfigurationError) as caught:
        read_settings(data, Outer, "it.yml")
    return list(caught.value.problems)


def test_valid_settings_are_read():
    settings = read_settings(
        {
            "url": "x",
            "inner": {"tolerance": "2m"},
            "several": [{"threshold": 1}],
            "names": {"a": 1},
        },
        Outer,
        "it.yml",
    )

    assert settings == Outer(
        "x", Inner(tolerance=Duration(120)), None, (Inner(1.0),), {"a": 1}
    )


def test_every_problem_is_reported_with_its_place():
    assert problems(
        {
            "inner": {"tolerence": 5, "threshold": "20%"},
            "several": [{}, {"threshold": -1}],
            "names": {"a": "b"},
        }
    ) == [
        "it.yml: url: missing; for example http://localhost:9090",
        'it.yml: inner.tolerence: unknown setting; did you mean "tolerance"?',
        "it.yml: inner.threshold: expected a fraction such as 0.2 for +20 %, got '20%'",
        "it.yml: several[1].threshold: expected a fraction such as 0.2 for +20 %, "
        "got -1",
        "it.yml: names.a: expected a whole number, got 'b'",
    ]


def test_a_name_like_no_other_gets_the_list_of_those_known():
    (problem,) = problems({"url": "x", "zzz": 1})

    assert problem.endswith("known are inner, maybe, names, several, url")


@pytest.mark.parametrize("value", ["soon", [], None, {}, True])
def test_a_bad_duration_is_answered_with_an_example(value):
    (problem,) = problems({"url": "x", "inner": {"tolerance": value}})

    assert problem.startswith("it.yml: inner.tolerance: ")
    assert "a duration such as 30m or 90s" in problem


@pytest.mark.parametrize("data", ["text", ["a", "b"], 5])
def test_a_file_without_settings_is_answered_with_what_settings_look_like(data):
    assert problems(data) == ["it.yml: expected settings as 'name: value' lines"]


def test_an_empty_file_is_answered_with_what_is_missing():
    assert problems(None) == ["it.yml: url: missing; for example http://localhost:9090"]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("several", "deploy", "a list of '- …' lines"),
        ("several", {"a": 1}, "a list of '- …' lines"),
        ("names", ["shop"], "'name: value' lines"),
        ("url", 5, "text"),
    ],
)
def test_another_shape_is_answered_with_the_right_one(name, value, expected):
    assert problems({"url": "x", name: value}) == [
        f"it.yml: {name}: expected {expected}, got {value!r}"
    ]


def test_a_missing_section_is_reported_by_what_it_needs():
    with pytest.raises(ConfigurationError) as caught:
        read_settings({}, Holding, "it.yml")

    assert caught.value.problems == (
        "it.yml: outer.url: missing; for example http://localhost:9090",
    )


def test_problems_that_a_section_finds_itself_are_reported_too():
    assert problems({"url": "odd"}) == ["it.yml: url: is odd", "it.yml: url: very odd"]


def test_a_section_may_be_left_empty():
    assert read_settings({"url": "x", "maybe": None}, Outer, "it.yml").maybe is None


def test_a_heading_over_comments_only_leaves_the_defaults():
    assert read_settings({"url": "x", "inner": None}, Outer, "it.yml").inner == Inner()


def test_a_value_in_the_place_of_a_section_is_reported_by_name():
    assert problems({"url": "x", "inner": 5}) == [
        "it.yml: inner: expected settings as 'name: value' lines"
    ]
