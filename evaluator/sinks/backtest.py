"""A backtest as JSON, and as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..model.backtest import BacktestReport, Rate
from ..units import show_duration, show_time
from .phrases import aligned, describe_key

# A query is too noisy if its doubling would be missed more often than one time in five.
TOO_NOISY = 2.0
# Most false alarms, and most noisy queries, that the table lists.
_SHOWN = 10


def to_json(report: BacktestReport) -> str:
    """The whole report; times are Unix seconds, durations seconds."""
    document = msgspec.to_builtins(report)
    document["complete"] = report.judged == report.planned
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def to_table(report: BacktestReport) -> str:
    """False alarms of each engine, and the queries that are too noisy to judge."""
    lines = [
        _headline(report),
        "",
        *aligned([_COLUMNS, *_engines(report)]),
        "",
        *_explanation(report),
    ]
    if report.false_alarms:
        lines += ["", *_false_alarms(report)]
    lines += ["", *_noisy(report)]
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


_COLUMNS = (
    "moments",
    "with a false alarm",
    "share",
    "95 % interval",
    "judged",
    "false alarms",
    "per 1,000",
    "95 % interval",
    "watch list",
    "engine",
)


def _headline(report: BacktestReport) -> str:
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
        f"backtest: {report.judged} moments{part}, every "
        f"{show_duration(report.every)} from {show_time(report.start)} to "
        f"{show_time(report.end)}" + "".join(f"; {reason}" for reason in left_out)
    )


def _engines(report: BacktestReport) -> Iterator[tuple[str, ...]]:
    for result in report.engines:
        yield (
            str(result.moments),
            str(result.alarmed),
            _percent(result.share, 100.0, " %"),
            _interval(result.share, 100.0, " %"),
            str(result.judged),
            str(result.false_alarms),
            _percent(result.per_thousand, 1.0, ""),
            _interval(result.per_thousand, 1.0, ""),
            str(result.watched),
            result.engine,
        )


def _explanation(report: BacktestReport) -> Iterator[str]:
    apart = show_duration(max(2.0 * report.window, report.every))
    dispersion = ", ".join(
        f"{result.engine} {result.dispersion:.3g}" for result in report.engines
    )
    yield f"The intervals treat moments {apart} apart as independent, closer ones as"
    yield "one, and allow for false alarms that come together (variance of their counts"
    yield f"over that of independent ones: {dispersion})."
    yield "A false alarm may be a real change that is not marked as a deploy."


def _false_alarms(report: BacktestReport) -> Iterator[str]:
    newest = sorted(
        report.false_alarms, key=lambda alarm: (-alarm.at, alarm.engine, alarm.key)
    )
    shown = newest[:_SHOWN]
    yield f"False alarms, the newest {len(shown)} of {len(newest)}:"
    yield from aligned(
        [
            (
                show_time(alarm.at),
                alarm.engine,
                f"×{alarm.factor:.2f}",
                describe_key(alarm.key),
            )
            for alarm in shown
        ]
    )


def _noisy(report: BacktestReport) -> Iterator[str]:
    engines = [result.engine for result in report.engines]
    unknown = report.queries - report.never_judged - len(report.noise)
    yield (
        f"{report.queries} queries, of which never with enough calls: "
        f"{report.never_judged}"
        + (f", at too few moments to measure: {unknown}" if unknown else "")
    )
    too_noisy = {
        engine: sum(
            query.detectable_factor[engine] > TOO_NOISY for query in report.noise
        )
        for engine in engines
    }
    yield (
        f"Too noisy to judge (even ×{TOO_NOISY:g} would be missed more often than one "
        "time in five): "
        + ", ".join(f"{engine} {number}" for engine, number in too_noisy.items())
    )
    if not report.noise:
        return
    yield (
        "The smallest factor found in four of five deploys, from the standard deviation"
    )
    yield (
        "of the log factor (the calibrated engine knows more of the past, and does a "
        "little better):"
    )
    columns = (
        *(f"smallest, {engine}" for engine in engines),
        "sd of log factor",
        "noisiest query",
    )
    rows = [
        (
            *(f"×{query.detectable_factor[engine]:.2f}" for engine in engines),
            f"{query.log_factor_sd:.2f}",
            describe_key(query.key),
        )
        for query in report.noise[:_SHOWN]
    ]
    yield from aligned([columns, *rows])


def _percent(rate: Rate | None, factor: float, unit: str) -> str:
    return "unknown" if rate is None else f"{factor * rate.value:.3g}{unit}"


def _interval(rate: Rate | None, factor: float, unit: str) -> str:
    if rate is None:
        return "unknown"
    return f"{factor * rate.low:.3g} to {factor * rate.high:.3g}{unit}"
