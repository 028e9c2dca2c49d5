"""The placebo check as JSON, and as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..model.backtest import PlaceboReport, Rate
from ..units import show_duration, show_time
from .phrases import aligned, describe_key

# A query whose doubling would be missed more often than one time in five.
TOO_NOISY = 2.0
_SHOWN = 10


def to_json(report: PlaceboReport) -> str:
    """Everything in the report; times are Unix seconds, durations seconds."""
    document = msgspec.to_builtins(report)
    document["complete"] = report.judged == report.planned
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def to_table(report: PlaceboReport) -> str:
    """How often each engine cried, what it named, and what it cannot judge."""
    lines = [
        _headline(report),
        "",
        *aligned([_COLUMNS, *_engines(report)]),
        "",
        *_meaning(report),
    ]
    if report.cries:
        lines += ["", *_cries(report)]
    lines += ["", *_noisy(report)]
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


_COLUMNS = (
    *("of moments", "cried at", "share", "95 % interval"),
    *("of judged", "named", "per 1,000", "95 % interval", "watched", "engine"),
)


def _headline(report: PlaceboReport) -> str:
    part = "" if report.judged == report.planned else f" of {report.planned} planned"
    left_out = []
    if report.near_deploys:
        left_out.append(
            f"{report.near_deploys} left out, less than "
            f"{show_duration(report.window)} from a known deploy"
        )
    if report.empty:
        left_out.append(f"{report.empty} without a query that had enough data")
    return (
        f"placebo check: {report.judged} moments{part}, every "
        f"{show_duration(report.every)} from {show_time(report.start)} to "
        f"{show_time(report.end)}" + "".join(f"; {reason}" for reason in left_out)
    )


def _engines(report: PlaceboReport) -> Iterator[tuple[str, ...]]:
    for record in report.records:
        yield (
            str(record.moments),
            str(record.crying),
            _percent(record.share, 100.0, " %"),
            _interval(record.share, 100.0, " %"),
            str(record.judged),
            str(record.cries),
            _percent(record.per_thousand, 1.0, ""),
            _interval(record.per_thousand, 1.0, ""),
            str(record.watched),
            record.engine,
        )


def _meaning(report: PlaceboReport) -> Iterator[str]:
    apart = show_duration(max(2.0 * report.window, report.every))
    clusters = ", ".join(
        f"{record.engine} {record.dispersion:.3g}" for record in report.records
    )
    yield (
        f"The intervals take moments {apart} apart as independent, closer ones as one,"
    )
    yield (
        "and let queries that are named together count for less (variance of the counts"
    )
    yield f"over that of independent ones: {clusters})."
    yield "A cry may be true: what changed here and is marked nowhere counts as false."


def _cries(report: PlaceboReport) -> Iterator[str]:
    newest = sorted(report.cries, key=lambda cry: (-cry.at, cry.engine, cry.key))
    shown = newest[:_SHOWN]
    yield f"Named without a deploy, the newest {len(shown)} of {len(newest)}:"
    yield from aligned(
        [
            (show_time(cry.at), cry.engine, f"×{cry.factor:.2f}", describe_key(cry.key))
            for cry in shown
        ]
    )


def _noisy(report: PlaceboReport) -> Iterator[str]:
    engines = [record.engine for record in report.records]
    scatters = report.scatters
    unknown = report.queries - report.never_judged - len(scatters)
    yield (
        f"{report.queries} queries, of which never with enough calls: "
        f"{report.never_judged}"
        + (f", at too few moments to tell: {unknown}" if unknown else "")
    )
    noisy = ", ".join(
        f"{engine} {sum(one.least_factor[engine] > TOO_NOISY for one in scatters)}"
        for engine in engines
    )
    yield (
        f"Too noisy to judge (even ×{TOO_NOISY:g} would be missed more often than one "
        f"time in five): {noisy}"
    )
    if not scatters:
        return
    yield (
        "The least factor that is found, from the scatter of both windows (the "
        "calibrated engine knows more of the past, and does a little better):"
    )
    columns = (*(f"least {engine}" for engine in engines), "scatter", "noisiest query")
    yield from aligned(
        [
            columns,
            *(
                (
                    *(f"×{one.least_factor[engine]:.2f}" for engine in engines),
                    f"±{100 * one.scatter:.0f} %",
                    describe_key(one.key),
                )
                for one in scatters[:_SHOWN]
            ),
        ]
    )


def _percent(rate: Rate | None, factor: float, unit: str) -> str:
    return "unknown" if rate is None else f"{factor * rate.value:.3g}{unit}"


def _interval(rate: Rate | None, factor: float, unit: str) -> str:
    if rate is None:
        return "unknown"
    return f"{factor * rate.low:.3g} to {factor * rate.high:.3g}{unit}"
