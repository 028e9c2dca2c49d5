"""Metric families → the Prometheus text format 0.0.4 or OpenMetrics 1.0. Pure.

Written for pages of 60,000 series: labels arrive rendered, a family is one join, and
each family is encoded on its own, because a single non-Latin character makes Python
store the whole string with two or four bytes per character.

Formats: prometheus.io/docs/instrumenting/exposition_formats, openmetrics.io 1.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Literal

from .labels import NONE

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
END = b"# EOF\n"


@dataclass(frozen=True, slots=True)
class Family:
    """Samples of one metric.

    Args:
        name: name of the samples; for a counter it ends with ``_total``.
        labels, values: one of each per sample, the labels as labels.py renders them.
        created: when each counter started, Unix seconds; only OpenMetrics shows it.
    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    labels: Sequence[str]
    values: Sequence[float]
    created: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.kind == "counter" and not self.name.endswith("_total"):
            raise ValueError(f"{self.name}: the name of a counter must end with _total")
        if len(self.labels) != len(self.values):
            raise ValueError(f"{self.name}: labels and values differ in number")


def single(
    kind: Literal["counter", "gauge"], name: str, text: str, value: float
) -> Family:
    """A family of one sample without labels."""
    return Family(name, kind, text, (NONE,), (value,))


def render(families: Iterable[Family], *, openmetrics: bool = False) -> Iterator[bytes]:
    """Yield the page, one piece per family; OpenMetrics needs END after them."""
    for family in families:
        yield _family(family, openmetrics=openmetrics).encode()


def _family(family: Family, *, openmetrics: bool) -> str:
    name, title = family.name, family.name
    text = family.help.replace("\\", r"\\").replace("\n", r"\n")
    if openmetrics:
        title = name.removesuffix("_total") if family.kind == "counter" else name
        text = text.replace('"', r"\"")
    head = f"# HELP {title} {text}\n# TYPE {title} {family.kind}\n"
    finite = isfinite(sum(family.values))
    values = family.values if finite else [_Special(value) for value in family.values]
    samples = zip(family.labels, values, strict=True)
    if openmetrics and family.created is not None:
        # The two samples of one label set must be adjacent.
        lines = [
            f"{name}{label} {value!r}\n{title}_created{label} {created!r}\n"
            for (label, value), created in zip(samples, family.created, strict=True)
        ]
    else:
        lines = [f"{name}{label} {value!r}\n" for label, value in samples]
    return head + "".join(lines)


class _Special(float):
    """A float that may be infinite or NaN, spelled as both formats require."""

    def __repr__(self) -> str:
        if self == inf:
            return "+Inf"
        if self == -inf:
            return "-Inf"
        return "NaN" if isnan(self) else float.__repr__(self)
