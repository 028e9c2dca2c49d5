"""Parts of a Grafana dashboard in classic JSON: values in, plain values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

PROMETHEUS = {"type": "prometheus", "uid": "${datasource}"}
GRAFANA = {"type": "grafana", "uid": "-- Grafana --"}
# Grafana's default of 100 would hide older ones.
ANNOTATIONS = 1000
WIDTH = 24


def values(name: str, label: str, query: str) -> dict[str, Any]:
    """A variable with several label values, all by default."""
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": PROMETHEUS,
        "query": {"query": query, "refId": name},
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def marks(name: str, tags: list[str], colour: str) -> dict[str, Any]:
    return {
        "name": name,
        "datasource": GRAFANA,
        "enable": True,
        "iconColor": colour,
        "target": {
            "type": "tags",
            "tags": tags,
            "matchAny": False,
            "limit": ANNOTATIONS,
        },
    }


def stat(
    title: str,
    description: str,
    expression: str,
    unit: str,
    place: int,
    *,
    red_from: float | None = None,
) -> dict[str, Any]:
    """A single number in the top row, in the *place*-th of five fields."""
    steps: list[dict[str, Any]] = [{"color": "text", "value": None}]
    if red_from is not None:
        steps = [{"color": "green", "value": None}, {"color": "red", "value": red_from}]
    width, rest = divmod(WIDTH, 5)
    return {
        "type": "stat",
        "title": title,
        "description": description,
        "datasource": PROMETHEUS,
        "gridPos": {
            "x": place * width,
            "y": 0,
            "w": width + (rest if place == 4 else 0),
            "h": 4,
        },
        "targets": [_target("A", expression, instant=True)],
        "fieldConfig": {
            "defaults": {
                "unit": unit,
                "thresholds": {"mode": "absolute", "steps": steps},
            },
            "overrides": [],
        },
        "options": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value"},
    }


def table(
    title: str,
    description: str,
    columns: Mapping[str, tuple[str, str]],
    *,
    top: int,
    height: int,
    sort: str,
    hidden: Sequence[str] = (),
) -> dict[str, Any]:
    """A table whose rows are joined by the labels that all columns share.

    Args:
        columns: expression and unit by the column's name.
        sort: the column to sort by, the largest value first.
        hidden: columns whose labels are shown, but not their values.
    """
    letters = [chr(ord("A") + number) for number in range(len(columns))]
    names = {
        f"Value #{letter}": name for letter, name in zip(letters, columns, strict=True)
    }
    return {
        "type": "table",
        "title": title,
        "description": description,
        "datasource": PROMETHEUS,
        "gridPos": {"x": 0, "y": top, "w": WIDTH, "h": height},
        "targets": [
            _target(letter, expression, instant=True, format_="table")
            for letter, (expression, _) in zip(letters, columns.values(), strict=True)
        ],
        "transformations": [
            {"id": "merge", "options": {}},
            {
                "id": "organize",
                "options": {
                    "excludeByName": {
                        "Time": True,
                        **{
                            letter: True
                            for letter, name in names.items()
                            if name in hidden
                        },
                    },
                    "renameByName": names,
                },
            },
        ],
        "fieldConfig": {
            "defaults": {"unit": "short"},
            "overrides": [_unit(name, unit) for name, (_, unit) in columns.items()],
        },
        "options": {"sortBy": [{"displayName": sort, "desc": True}]},
    }


def _unit(column: str, unit: str) -> dict[str, Any]:
    return {
        "matcher": {"id": "byName", "options": column},
        "properties": [{"id": "unit", "value": unit}],
    }


def series(
    title: str,
    description: str,
    expression: str,
    legend: str,
    unit: str,
    *,
    top: int,
    signed: bool = False,
) -> dict[str, Any]:
    """Lines over time; from 0 on unless they are *signed*."""
    defaults = {"unit": unit} if signed else {"unit": unit, "min": 0}
    return {
        "type": "timeseries",
        "title": title,
        "description": description,
        "datasource": PROMETHEUS,
        "gridPos": {"x": 0, "y": top, "w": WIDTH, "h": 9},
        "targets": [_target("A", expression, legend=legend)],
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": {"legend": {"displayMode": "table", "calcs": ["lastNotNull"]}},
    }


def _target(
    letter: str,
    expression: str,
    *,
    instant: bool = False,
    format_: str = "time_series",
    legend: str = "__auto",
) -> dict[str, Any]:
    return {
        "refId": letter,
        "datasource": PROMETHEUS,
        "expr": expression,
        "instant": instant,
        "range": not instant,
        "format": format_,
        "legendFormat": legend,
    }
