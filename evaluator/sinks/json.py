"""A report as JSON for programs."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import (
    METHODS,
    Cause,
    Deploy,
    PlanChange,
    Report,
    Settings,
    Subject,
    Verdict,
)
from .cause_sentences import with_sentences
from .phrases import CAUTION, describe_decision

# Raised when a field goes or changes its meaning; fields may be added at any time.
SCHEMA_VERSION = 1


def to_json(report: Report) -> str:
    """Everything in the report, as docs/report.schema.json describes it.

    Times are Unix seconds, durations seconds. A number that belongs to a step the query
    did not reach is left out, or null where the calibrated engine alone has it.
    """
    subject = report.subject
    document = {
        "schema_version": SCHEMA_VERSION,
        "decision": {
            **msgspec.to_builtins(report.decision),
            "text": describe_decision(report),
        },
        **_subject_fields(subject),
        "judged_at": report.judged_at,
        "window_seconds": report.settings.window,
        "window_share": report.share,
        "settings": {
            "engine": report.settings.engine,
            "min_samples": report.settings.min_samples,
            "min_calls": report.settings.min_calls,
            "threshold": report.settings.threshold,
            "alpha": report.settings.alpha,
            "max_gap_seconds": report.settings.max_gap,
            "max_unjudged": report.settings.max_unjudged,
            **_calibrated_settings(report.settings),
        },
        "quality": msgspec.to_builtins(report.quality),
        "notes": report.notes,
        "failure": report.failure,
        "unjudged_time_share": report.unjudged_time,
        "queries": [_query_fields(verdict, report) for verdict in report.verdicts],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def _subject_fields(subject: Subject) -> dict[str, Any]:
    if isinstance(subject, Deploy):
        return {"deploy": msgspec.to_builtins(subject), "deploy_time": subject.at}
    return {"drift": msgspec.to_builtins(subject)}


def _query_fields(verdict: Verdict, report: Report) -> dict[str, Any]:
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
        "seconds_before": before.seconds,
        "seconds_after": after.seconds,
        "unused_seconds": verdict.unused_seconds,
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
    if METHODS[report.settings.engine].corrects_for_queries:
        fields |= _calibrated_fields(verdict, report.subject)
    elif effect is not None:
        fields["extra_seconds_per_second"] = effect.extra_seconds_per_second
    if verdict.replaces:
        fields["replaces"] = verdict.replaces
    if verdict.reason:
        fields["reason"] = verdict.reason
    return fields | {"verdict": verdict.outcome, "stage": verdict.stage}


def _calibrated_fields(verdict: Verdict, subject: Subject) -> dict[str, Any]:
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
        "external_causes": [
            _cause_fields(cause, sentence)
            for cause, sentence in with_sentences(verdict.causes, subject)
        ],
        "plan_change": _plan_fields(verdict.plan_change),
    }


def _cause_fields(cause: Cause, sentence: str) -> dict[str, Any]:
    """The sentence and the values behind it, without those that its kind has not."""
    values: dict[str, Any] = msgspec.to_builtins(cause)
    del values["kind"], values["external"], values["stored_text"]
    return {
        "kind": cause.kind,
        "evidence": sentence,
        "external": cause.external,
        **{name: value for name, value in values.items() if _is_set(value)},
    }


def _is_set(value: object) -> bool:
    return value is not None and value is not False and value != ""


def _plan_fields(change: PlanChange | None) -> dict[str, Any] | None:
    if change is None:
        return None
    fields: dict[str, Any] = msgspec.to_builtins(change)
    return fields | {"caution": CAUTION}


def _calibrated_settings(settings: Settings) -> dict[str, float]:
    if not METHODS[settings.engine].corrects_for_queries:
        return {}
    return {
        "watch": settings.watch,
        "history_seconds": settings.history,
        "prior": settings.prior,
    }
