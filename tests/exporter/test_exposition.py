"""The fast writer against its slow twin, prometheus_client's own."""

from __future__ import annotations

import math

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

from exporter.exposition import Family, single
from exporter.labels import NONE, Labels

from .builders import page, samples

LABEL_NAMES = st.sampled_from(["user", "datname", "query", "a", "le_2"])
# Any text that UTF-8 can carry; PostgreSQL's names and texts hold no zero byte.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
LABELS = st.dictionaries(LABEL_NAMES, TEXTS, max_size=4).map(
    lambda labels: Labels(*labels.items())
)
NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False),
    st.sampled_from([0.1 + 0.2, 5e-324, 1e22, -0.0]),
)


@st.composite
def families(draw: st.DrawFn) -> Family:
    labels = draw(st.lists(LABELS, unique_by=lambda labels: frozenset(labels.pairs)))
    count = len(labels)
    values = draw(st.lists(NUMBERS, min_size=count, max_size=count))
    text = draw(TEXTS.filter(lambda text: text == text.strip()))
    if draw(st.booleans()):
        positive = [abs(value) for value in values]
        return Family("pg_tests_total", "counter", text, labels, positive)
    return Family("pg_tests", "gauge", text, labels, values)


class Slowly(Collector):
    """The same family for prometheus_client."""

    def __init__(self, family: Family) -> None:
        self.family = family

    def collect(self) -> list[Metric]:
        kind = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily}
        name = self.family.name.removesuffix("_total")
        metric = kind[self.family.kind](name, self.family.help)
        suffix = "_total" if self.family.kind == "counter" else ""
        for labels, value in zip(self.family.labels, self.family.values, strict=True):
            metric.add_sample(name + suffix, dict(labels.pairs), value)
        return [metric]


def slowly(family: Family, *, openmetrics: bool) -> str:
    registry = CollectorRegistry()
    registry.register(Slowly(family))
    generate = generate_openmetrics if openmetrics else generate_latest
    written: bytes = generate(registry)
    return written.decode()


@given(family=families(), openmetrics=st.booleans())
def test_both_writers_are_read_back_alike(family: Family, openmetrics: bool) -> None:
    fast = page(family, openmetrics=openmetrics)

    assert samples(fast) == samples(slowly(family, openmetrics=openmetrics))


@given(family=families(), openmetrics=st.booleans())
def test_labels_and_values_survive_exactly(family: Family, openmetrics: bool) -> None:
    read = samples(page(family, openmetrics=openmetrics))

    assert read == {
        (family.name, tuple(sorted(labels.pairs))): value
        for labels, value in zip(family.labels, family.values, strict=True)
    }


@given(family=families())
def test_text_pages_are_the_same_bytes_but_for_numbers(family: Family) -> None:
    def without_numbers(text: str) -> list[str]:
        return [
            line if line.startswith("#") else line.rpartition(" ")[0]
            for line in text.split("\n")
        ]

    fast, slow = page(family), slowly(family, openmetrics=False)

    one_label_at_most = all(len(labels.pairs) < 2 for labels in family.labels)
    assert not one_label_at_most or without_numbers(fast) == without_numbers(slow)


@pytest.mark.parametrize(
    ("value", "written"),
    [(math.inf, "+Inf"), (-math.inf, "-Inf"), (math.nan, "NaN"), (1e-05, "1e-05")],
)
def test_special_numbers_are_spelled_as_the_format_asks(
    value: float, written: str
) -> None:
    text = page(Family("x", "gauge", "", [NONE, Labels(("a", "b"))], [value, 1.5]))

    assert text.endswith(f'x {written}\nx{{a="b"}} 1.5\n')


def test_openmetrics_tells_beside_each_counter_when_it_began() -> None:
    labels = [Labels(("q", "1")), Labels(("q", "2"))]
    family = Family("x_total", "counter", "Help.", labels, [3, 4], [10.5, 11.5])

    text = page(family, openmetrics=True)

    assert text == (
        "# HELP x Help.\n# TYPE x counter\n"
        'x_total{q="1"} 3\nx_created{q="1"} 10.5\n'
        'x_total{q="2"} 4\nx_created{q="2"} 11.5\n# EOF\n'
    )


def test_the_text_format_says_nothing_of_beginnings() -> None:
    family = Family("x_total", "counter", "Help.", [NONE], [3], [10.5])

    assert "created" not in page(family)


def test_a_counter_without_total_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="_total"):
        single("counter", "x", "", 1)


def test_labels_without_their_values_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="differ"):
        Family("x", "gauge", "", [NONE], [1, 2])
