"""The fast writer compared with a slow one, prometheus_client's own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.exposition import (
    generate_latest as generate_openmetrics,
)
from prometheus_client.registry import Collector

from exporter.metrics.exposition import Family, single
from exporter.metrics.labels import NONE, labels

from ..builders import described, page, samples, series

LABEL_NAMES = st.sampled_from(["user", "datname", "query", "a", "le_2"])
# Any text that UTF-8 can encode; PostgreSQL's names and texts have no zero byte.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
TIMES = st.floats(0, 4e9)
LABELS = st.dictionaries(LABEL_NAMES, TEXTS, max_size=4)
NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False),
    st.sampled_from([0.1 + 0.2, 5e-324, 1e22, -0.0]),
)


@dataclass(frozen=True)
class Drawn:
    """A family whose labels are not rendered yet."""

    kind: Literal["counter", "gauge"]
    help: str
    labels: list[dict[str, str]]
    values: list[float]
    created: list[float] | None = None

    @property
    def name(self) -> str:
        return "pg_tests_total" if self.kind == "counter" else "pg_tests"

    @property
    def family(self) -> Family:
        rendered = [labels(*pairs.items()) for pairs in self.labels]
        return Family(
            self.name, self.kind, self.help, rendered, self.values, self.created
        )

    def slowly(self, *, openmetrics: bool) -> str:
        """The page as prometheus_client writes it."""
        registry = CollectorRegistry()
        created = self.created if openmetrics else None
        registry.register(Slowly(replace(self, created=created)))
        generate = generate_openmetrics if openmetrics else generate_latest
        written: bytes = generate(registry)
        return written.decode()


class Slowly(Collector):
    """The same family for prometheus_client."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn

    def collect(self) -> list[Metric]:
        kind = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily}
        metric = kind[self.drawn.kind]("pg_tests", self.drawn.help)
        for place, pairs in enumerate(self.drawn.labels):
            metric.add_sample(self.drawn.name, pairs, self.drawn.values[place])
            if self.drawn.created is not None:
                metric.add_sample("pg_tests_created", pairs, self.drawn.created[place])
        return [metric]


@st.composite
def families(draw: st.DrawFn) -> Drawn:
    sets = draw(st.lists(LABELS, unique_by=lambda pairs: frozenset(pairs.items())))
    values = draw(st.lists(NUMBERS, min_size=len(sets), max_size=len(sets)))
    text = draw(TEXTS.filter(lambda text: text == text.strip()))
    if draw(st.booleans()):
        values = [abs(value) for value in values]
        starts = st.lists(TIMES, min_size=len(sets), max_size=len(sets))
        return Drawn("counter", text, sets, values, draw(st.none() | starts))
    return Drawn("gauge", text, sets, values)


@given(drawn=families(), openmetrics=st.booleans())
def test_pages_of_both_writers_parse_to_the_same_samples(
    drawn: Drawn, openmetrics: bool
) -> None:
    fast = page(drawn.family, openmetrics=openmetrics)
    slow = drawn.slowly(openmetrics=openmetrics)

    assert samples(fast) == samples(slow)
    assert described(fast) == described(slow)


@given(drawn=families(), openmetrics=st.booleans())
def test_labels_and_values_survive_exactly(drawn: Drawn, openmetrics: bool) -> None:
    read = samples(page(drawn.family, openmetrics=openmetrics))

    expected = {drawn.name: drawn.values}
    if openmetrics and drawn.created is not None:
        expected["pg_tests_created"] = drawn.created
    assert read == {
        series(name, **pairs): value
        for name, values in expected.items()
        for pairs, value in zip(drawn.labels, values, strict=True)
    }


@given(drawn=families())
def test_text_pages_are_the_same_bytes_except_for_numbers(drawn: Drawn) -> None:
    """With at most one label, because prometheus_client sorts labels by name."""
    few = [dict(list(pairs.items())[:1]) for pairs in drawn.labels]
    drawn = replace(drawn, labels=few)

    def without_numbers(text: str) -> list[str]:
        return [
            line if line.startswith("#") else line.rpartition(" ")[0]
            for line in text.split("\n")
        ]

    fast, slow = page(drawn.family), drawn.slowly(openmetrics=False)

    assert without_numbers(fast) == without_numbers(slow)


@pytest.mark.parametrize(
    ("value", "written"),
    [(math.inf, "+Inf"), (-math.inf, "-Inf"), (math.nan, "NaN"), (1e-05, "1e-05")],
)
def test_special_numbers_are_spelled_as_the_format_requires(
    value: float, written: str
) -> None:
    text = page(Family("x", "gauge", "", [NONE, labels(("a", "b"))], [value, 1.5]))

    assert text.endswith(f'x {written}\nx{{a="b"}} 1.5\n')


def test_openmetrics_shows_beside_each_counter_when_it_started() -> None:
    two = [labels(("q", "1")), labels(("q", "2"))]
    family = Family("x_total", "counter", "Help.", two, [3, 4], [10.5, 11.5])

    text = page(family, openmetrics=True)

    assert text == (
        "# HELP x Help.\n# TYPE x counter\n"
        'x_total{q="1"} 3\nx_created{q="1"} 10.5\n'
        'x_total{q="2"} 4\nx_created{q="2"} 11.5\n# EOF\n'
    )


def test_the_text_format_does_not_show_when_counters_started() -> None:
    family = Family("x_total", "counter", "Help.", [NONE], [3], [10.5])

    assert "created" not in page(family)


def test_a_counter_without_total_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="_total"):
        single("counter", "x", "", 1)


def test_labels_without_their_values_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="differ"):
        Family("x", "gauge", "", [NONE], [1, 2])
