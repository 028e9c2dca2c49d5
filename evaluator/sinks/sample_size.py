"""The price list as JSON, and as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..model.sample_size import Noise, Price, PriceList
from ..units import show_duration
from .phrases import aligned, describe_key

_COLUMNS = (
    *("rise", "formula", "calls", "window"),
    *("simulated", "calls", "window", "found", ""),
)


def to_json(prices: PriceList) -> str:
    """Everything in the list, for each side of the deploy; durations are seconds."""
    document = {
        "engine": prices.engine,
        "rows": [
            {
                "noise": msgspec.to_builtins(noise),
                "prices": [_fields(noise, price) for price in row],
            }
            for noise, row in prices.rows
        ],
        "measured": msgspec.to_builtins(prices.measured),
        "unmeasured": prices.unmeasured,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def to_table(prices: PriceList) -> str:
    """Formula and simulation side by side, for each noise."""
    lines = [
        f"What it takes on each side of a deploy to find a rise four times in five, "
        f"engine {prices.engine}"
    ]
    for noise, row in prices.rows:
        lines += [
            "",
            _describe(noise),
            *aligned([_COLUMNS, *(_cells(noise, price) for price in row)]),
        ]
    lines += ["", *_meaning(prices)]
    return "\n".join(lines)


def _describe(noise: Noise) -> str:
    name = f"{noise.name}: " if noise.name else ""
    query = "" if noise.key is None else f" ({describe_key(noise.key)})"
    return (
        f"{name}CV {noise.cv:.2g} of one interval, neighbours correlate by "
        f"{noise.phi:.2f}, {noise.calls:.3g} calls every "
        f"{show_duration(noise.spacing)}{query}"
    )


def _cells(noise: Noise, price: Price) -> tuple[str, ...]:
    told = (
        (f"> {price.tried}", "", f"> {show_duration(price.tried * noise.spacing)}")
        if price.simulated is None
        else (
            str(price.simulated),
            f"{price.simulated * noise.calls:.0f}",
            show_duration(price.simulated * noise.spacing),
        )
    )
    return (
        f"+{100 * price.rise:.0f} %",
        str(price.asymptotic),
        f"{price.asymptotic * noise.calls:.0f}",
        show_duration(price.asymptotic * noise.spacing),
        *told,
        f"{100 * price.power:.0f} %",
        f"threshold {price.threshold:g}",
    )


def _meaning(prices: PriceList) -> Iterator[str]:
    yield "formula: 15.7 · CV² / rise² intervals, for a split known beforehand and"
    yield "independent intervals. simulated: the whole rule, with the correlation, one"
    yield "query in a hundred slower. No window shows a rise that is not above"
    yield "engine.threshold; it was tried with a threshold of half the rise."
    if prices.measured or prices.unmeasured:
        yield (
            f"Queries measured: {len(prices.measured)}; with too few intervals to "
            f"measure: {prices.unmeasured}. A change inside counts as noise."
        )


def _fields(noise: Noise, price: Price) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "rise": price.rise,
        "threshold": price.threshold,
        "asymptotic": {
            "intervals": price.asymptotic,
            "calls": price.asymptotic * noise.calls,
            "seconds": price.asymptotic * noise.spacing,
        },
        "simulated": None,
        "power": price.power,
        "tried_intervals": price.tried,
    }
    if price.simulated is not None:
        fields["simulated"] = {
            "intervals": price.simulated,
            "calls": price.simulated * noise.calls,
            "seconds": price.simulated * noise.spacing,
        }
    return fields
