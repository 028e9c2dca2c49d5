"""Required sample sizes as JSON, and as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..model.sample_size import Noise, SampleSize, SampleSizeTable
from ..units import show_duration
from .phrases import aligned, describe_key

_COLUMNS = (
    "rise",
    "formula",
    "calls",
    "window",
    "simulated",
    "calls",
    "window",
    "power",
    "",
)


def to_json(table: SampleSizeTable) -> str:
    """The whole table, for each side of the deploy; durations are in seconds."""
    document = {
        "engine": table.engine,
        "rows": [
            {
                "noise": msgspec.to_builtins(noise),
                "sample_sizes": [_fields(noise, size) for size in row],
            }
            for noise, row in table.rows
        ],
        "measured": msgspec.to_builtins(table.measured),
        "unmeasured": table.unmeasured,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def to_table(table: SampleSizeTable) -> str:
    """Formula and simulation side by side, for each noise."""
    lines = [
        f"Data needed on each side of a deploy to find a rise in four of five deploys, "
        f"engine {table.engine}"
    ]
    for noise, row in table.rows:
        lines += [
            "",
            _describe(noise),
            *aligned([_COLUMNS, *(_cells(noise, size) for size in row)]),
        ]
    lines += ["", *_explanation(table)]
    return "\n".join(lines)


def _describe(noise: Noise) -> str:
    name = f"{noise.name}: " if noise.name else ""
    query = "" if noise.key is None else f" ({describe_key(noise.key)})"
    return (
        f"{name}interval means of CV {noise.cv:.2g}, lag-1 correlation "
        f"{noise.phi:.2f}, {noise.calls:.3g} calls every "
        f"{show_duration(noise.spacing)}{query}"
    )


def _cells(noise: Noise, size: SampleSize) -> tuple[str, ...]:
    if size.simulated is None:
        longest = show_duration(size.longest * noise.spacing)
        simulated = (f"> {size.longest}", "", f"> {longest}")
    else:
        simulated = _needed(noise, size.simulated)
    return (
        f"+{100 * size.rise:.0f} %",
        *_needed(noise, size.formula),
        *simulated,
        f"{100 * size.power:.0f} %",
        f"threshold {size.threshold:g}",
    )


def _needed(noise: Noise, intervals: int) -> tuple[str, str, str]:
    return (
        str(intervals),
        f"{intervals * noise.calls:.0f}",
        show_duration(intervals * noise.spacing),
    )


def _explanation(table: SampleSizeTable) -> Iterator[str]:
    yield "formula: 15.7 · CV² / rise² intervals, for a split known beforehand and"
    yield "independent intervals. simulated: the whole engine, with the correlation,"
    yield "one query in a hundred slower. A rise that is not above engine.threshold is"
    yield "never found reliably; it was simulated with a threshold of half the rise."
    if table.measured or table.unmeasured:
        yield (
            f"Queries measured: {len(table.measured)}; with too few intervals to "
            f"measure: {table.unmeasured}. A change in the period counts as noise."
        )


def _fields(noise: Noise, size: SampleSize) -> dict[str, Any]:
    return {
        "rise": size.rise,
        "threshold": size.threshold,
        "formula": _amounts(noise, size.formula),
        "simulated": (
            None if size.simulated is None else _amounts(noise, size.simulated)
        ),
        "power": size.power,
        "longest_intervals": size.longest,
    }


def _amounts(noise: Noise, intervals: int) -> dict[str, float]:
    return {
        "intervals": intervals,
        "calls": intervals * noise.calls,
        "seconds": intervals * noise.spacing,
    }
