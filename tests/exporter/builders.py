"""Data in one readable line, and pages parsed again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as read_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as read_text

from exporter.metrics.exposition import END, Family, render
from exporter.values.snapshot import Names, StatementKey, Statements

NAMES = Names({10: "app", 11: "batch"}, {5: "shop", 6: "stock"})

Series = tuple[str, tuple[tuple[str, str], ...]]


def key(
    queryid: int = 1, *, user: int = 10, database: int = 5, toplevel: bool | None = True
) -> StatementKey:
    return user, database, queryid, toplevel


def statements(
    *keys: StatementKey,
    names: Names = NAMES,
    skipped: Mapping[str, int] | None = None,
    **columns: Sequence[float],
) -> Statements:
    return Statements(keys, columns, names, skipped or {})


def page(*families: Family, openmetrics: bool = False) -> str:
    end = END if openmetrics else b""
    return (b"".join(render(families, openmetrics=openmetrics)) + end).decode()


def series(name: str, **labels: str) -> Series:
    return name, tuple(sorted(labels.items()))


def samples(text: str) -> dict[Series, float]:
    """Every sample of a page; a ValueError if two have the same labels."""
    read = read_openmetrics if text.endswith("# EOF\n") else read_text
    values: dict[Series, float] = {}
    for family in read(text):
        for sample in family.samples:
            named = series(sample.name, **sample.labels)
            if named in values:
                raise ValueError(f"{named} occurs twice")
            values[named] = sample.value
    return values


def described(text: str) -> list[tuple[str, str, str]]:
    """Name, type and help of every family of a page."""
    read = read_openmetrics if text.endswith("# EOF\n") else read_text
    return [(family.name, family.type, family.documentation) for family in read(text)]


def family_named(families: Iterable[Family], name: str) -> Family:
    return next(family for family in families if family.name == name)
