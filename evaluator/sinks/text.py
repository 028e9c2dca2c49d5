"""A report as JSON, and as a table for the terminal."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import Level, Outcome, PlanChange, Report, Settings, Verdict
from ..units import show_duration, show_time
from .phrases import (
    CAUTION,
    aligned,
    describe_besides,
    describe_external,
    describe_key,
    describe_unjudged,
)

_COLUMNS = ("factor", "before", "after", "costs", "p", "q", "changed", "query")
_NOUNS = {
    Outcome.DETECTED: "detected",
    Outcome.BACKGROUND_CHANGE: "changed elsewhere in the window",
    Outcome.NO_REGRESSION: "without a regression",
    Outcome.INSUFFICIENT_DATA: "with too little data to tell",
    Outcome.PENDING: "pending",
}


def to_json(report: Report) -> str:
    """Everything in the report; times are Unix seconds, durations seconds.

    A number that belongs to a step the query did not reach is left out, or null where
    the calibrated engine alone has it.
    """
    document = {
        "deploy": msgspec.to_builtins(report.deploy),
        "deploy_time": report.deploy.at,
        "judged_at": report.judged_at,
        "window_seconds": report.settings.window,
        "settings": {
            "engine": report.settings.engine,
            "min_samples": report.settings.min_samples,
            "min_calls": report.settings.min_calls,
            "threshold": report.settings.threshold,
            "alpha": report.settings.alpha,
            "max_gap_seconds": report.settings.max_gap,
            **_calibrated_settings(report.settings),
        },
        "quality": msgspec.to_builtins(report.quality),
        "notes": report.notes,
        "failure": report.failure,
        "unjudged_time_share": report.unjudged_time,
        "queries": [
            _query_fields(verdict, report.settings.engine)
            for verdict in report.verdicts
        ],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def to_table(report: Report, *, everything: bool = False) -> str:
    """What a person wants to see first: the findings, then what could not be told.

    Args:
        everything: also list the queries without a finding.
    """
    lines = [_headline(report)]
    shown = [*report.detected, *report.watched]
    if everything:
        told = {verdict.key for verdict in shown}
        shown += [v for v in report.verdicts if v.key not in told]
    if shown:
        lines += ["", *aligned([_COLUMNS, *(_row(v, report) for v in shown)])]
    lines += ["", _counts(report)]
    if external := describe_external(report):
        lines.append(f"note: {external}; pgverdict's rules do not alert on those")
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


def _query_fields(verdict: Verdict, engine: str) -> dict[str, Any]:
    before, after = verdict.before, verdict.after
    fields: dict[str, Any] = {
        "server": verdict.key.instance,
        "datname": verdict.key.database,
        "user": verdict.key.user,
        "queryid": verdict.key.queryid,
        "toplevel": verdict.key.toplevel,
        "usable": verdict.usable,
        "dropped": verdict.dropped,
        "samples_before": before.samples,
        "samples_after": after.samples,
        "calls_before": before.calls,
        "calls_after": after.calls,
    }
    if verdict.factor is not None:
        fields |= {
            "mean_before": before.mean,
            "mean_after": after.mean,
            "factor": verdict.factor,
        }
    if verdict.change is not None:
        fields |= {
            "min_segment": verdict.change.min_segment,
            "split": verdict.change.split,
            "q": verdict.change.statistic,
            "change_at": verdict.change.at,
        }
    if verdict.test is not None:
        if verdict.test.t is not None:
            fields |= {"t": verdict.test.t, "nu": verdict.test.nu}
        fields |= {"p_nominal": verdict.test.p_nominal, "score": verdict.test.score}
    effect = verdict.effect
    if engine == "calibrated":
        fields |= _calibrated_fields(verdict)
    elif effect is not None:
        fields["extra_seconds_per_second"] = effect.extra_seconds_per_second
    if verdict.replaces:
        fields["replaces"] = verdict.replaces
    if verdict.reason:
        fields["reason"] = verdict.reason
    return fields | {"verdict": verdict.outcome, "stage": verdict.stage}


def _calibrated_fields(verdict: Verdict) -> dict[str, Any]:
    """The same fields for every query; null where a step was not reached."""
    significance, effect = verdict.significance, verdict.effect
    names = ("p_value", "q_value", "level", "phi", "no_change_bound", "long_history")
    return {
        **{name: getattr(significance, name, None) for name in names},
        "factor_low": None if effect is None else effect.low,
        "factor_high": None if effect is None else effect.high,
        "extra_seconds_per_second": None
        if effect is None
        else effect.extra_seconds_per_second,
        "external_causes": msgspec.to_builtins(verdict.causes),
        "plan_change": _plan_fields(verdict.plan_change),
    }


def _plan_fields(change: PlanChange | None) -> dict[str, Any] | None:
    if change is None:
        return None
    fields: dict[str, Any] = msgspec.to_builtins(change)
    return fields | {"caution": CAUTION}


def _calibrated_settings(settings: Settings) -> dict[str, float]:
    if settings.engine == "classic":
        return {}
    return {
        "watch": settings.watch,
        "history_seconds": settings.history,
        "prior": settings.prior,
    }


def _headline(report: Report) -> str:
    deploy = report.deploy
    named = " ".join(filter(None, (deploy.service, deploy.environment, deploy.version)))
    return (
        f"deploy {named or deploy.id} at {show_time(deploy.at)}, "
        f"{show_duration(report.settings.window)} before and after, "
        f"engine {report.settings.engine}"
    )


def _counts(report: Report) -> str:
    if report.failure:
        return f"could not be judged: {report.failure}"
    counts = ((report.count(outcome), noun) for outcome, noun in _NOUNS.items())
    listed = ", ".join(f"{count} {noun}" for count, noun in counts if count)
    if report.unjudged:
        listed += f" ({describe_unjudged(report)})"
    return f"{len(report.verdicts)} queries: {listed or 'nothing to judge'}"


def _row(verdict: Verdict, report: Report) -> tuple[str, ...]:
    query = f"{describe_key(verdict.key)}{_why(verdict)}"
    return (
        "" if verdict.factor is None else f"×{verdict.factor:.2f}",
        _seconds(verdict.before.mean),
        _seconds(verdict.after.mean),
        ""
        if verdict.effect is None
        else f"{show_duration(verdict.effect.extra_seconds_per_second)}/s",
        "" if verdict.p_value is None else f"{verdict.p_value:.1g}",
        "" if verdict.significance is None else f"{verdict.significance.q_value:.1g}",
        ""
        if verdict.change is None
        else f"{verdict.change.at - report.deploy.at:+.0f} s",
        query,
    )


def _why(verdict: Verdict) -> str:
    """What a reader should know of the finding, or why there is none."""
    if verdict.outcome is not Outcome.DETECTED:
        if verdict.significance and verdict.significance.level is Level.WATCH:
            return ": on the watch list"
        return f": {verdict.reason or f'{verdict.outcome} at {verdict.stage}'}"
    return "".join(f"; {said}" for said in describe_besides(verdict))


def _seconds(mean: float | None) -> str:
    return "" if mean is None else show_duration(mean)
