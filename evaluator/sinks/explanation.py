"""One verdict, step by step: each number beside its threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..model import METHODS, Check, Outcome, QueryIntervals, Report, Subject, Verdict
from ..units import show_duration, show_time
from .cause_sentences import with_sentences
from .phrases import CAUTION, describe_judgement, describe_key
from .plot import plot

# How the thresholds of a check are written, by what is compared with them.
_THRESHOLDS: Mapping[str, Callable[[float], str]] = {
    "intervals": lambda limit: f"{limit:g} intervals",
    "calls": lambda limit: f"{limit:g} calls, on each side",
    "factor": lambda limit: f"×{limit:.4g} or more",
    "statistic": lambda limit: f"Q above {limit:g}",
    "seconds": lambda limit: f"at most {show_duration(limit)}",
    "p_nominal": lambda limit: f"nominal p ≤ {limit:g}, upward",
    "alert": lambda limit: f"q-value ≤ {limit:g} for an alert",
    "watch": lambda limit: f"≤ {limit:g} for the watch list",
}


def explain_verdict(
    verdict: Verdict,
    checks: Sequence[Check],
    intervals: QueryIntervals,
    report: Report,
    *,
    width: int,
) -> str:
    """The steps with every number and its threshold, and a small plot.

    Args:
        verdict: a verdict of the *report*.
        checks: how it came about.
        intervals: those of its query.
        width: columns of the terminal.
    """
    lines = [
        describe_key(verdict.key),
        describe_judgement(report),
        "",
        *plot(
            intervals,
            at=report.subject.at,
            window=report.settings.window,
            levels=(verdict.before.mean, verdict.after.mean),
            change=None if verdict.change is None else verdict.change.at,
            width=width,
        ),
        "",
    ]
    steps = _Steps(verdict, report)
    for number, check in enumerate(checks, start=1):
        first, *others = steps.numbers(check)
        lines.append(f"{number} {check.name:10}  {first}")
        lines += [f"{'':12}  {more}" for more in others]
        if check.needs:
            lines.append(f"{'':12}  needs {_needed(check.needs)}: {check.result}")
    lines += ["", f"verdict: {_conclusion(verdict)}"]
    lines += _besides(verdict, report.subject)
    return "\n".join(lines)


def _needed(needs: Mapping[str, float]) -> str:
    """The thresholds of one step in words."""
    return ", ".join(_THRESHOLDS[name](limit) for name, limit in needs.items())


class _Steps:
    """The numbers of each step."""

    def __init__(self, verdict: Verdict, report: Report) -> None:
        self._verdict = verdict
        self._at = report.subject.at
        self._settings = report.settings
        self._method = METHODS[report.settings.engine]
        self._family = sum(v.significance is not None for v in report.verdicts)

    def numbers(self, check: Check) -> tuple[str, ...]:
        """One line or more."""
        return {
            "intervals": self._intervals,
            "floors": self._floors,
            "pre-filter": self._prefilter,
            "split": self._split,
            "tolerance": self._tolerance,
            "test": self._test,
            "family": self._q_value,
        }[check.name]()

    def _intervals(self) -> tuple[str, ...]:
        dropped = self._verdict.dropped.items()
        counts = ", ".join(f"{count} {why}" for why, count in dropped if count)
        return (f"{self._verdict.usable} usable; dropped: {counts or 'none'}",)

    def _floors(self) -> tuple[str, ...]:
        before, after = self._verdict.before, self._verdict.after
        return (
            f"{before.samples} intervals and {before.calls:.0f} calls before, "
            f"{after.samples} and {after.calls:.0f} after",
        )

    def _prefilter(self) -> tuple[str, ...]:
        verdict = self._verdict
        if verdict.factor is None:
            return ("no factor",)
        return (
            f"{_seconds(verdict.before.mean)} before, {_seconds(verdict.after.mean)} "
            f"after: ×{verdict.factor:.4g}",
        )

    def _split(self) -> tuple[str, ...]:
        change = self._verdict.change
        if change is None:
            return ("not searched",)
        # Without a unit it is of logarithms over their deviation.
        q = (
            show_duration(change.statistic)
            if self._method.statistic_in_seconds
            else f"{change.statistic:.4g}"
        )
        return (
            f"best before interval {change.split + 1} of {self._verdict.usable}, at "
            f"{show_time(change.at)}",
            f"Q = {q}, at least {change.min_segment} intervals on each side",
        )

    def _tolerance(self) -> tuple[str, ...]:
        change = self._verdict.change
        if change is None:
            return ("no change point",)
        distance = change.at - self._at
        if distance == 0:
            return ("at the deploy",)
        side = "after" if distance > 0 else "before"
        return (f"{show_duration(abs(distance))} {side} the deploy",)

    def _test(self) -> tuple[str, ...]:
        verdict, lines = self._verdict, []
        if verdict.significance is not None:
            lines += [
                f"p = {verdict.significance.p_value:.3g} that without a change the "
                "whole rule finds as much",
                f"neighbours correlate by {verdict.significance.phi:.2f}",
                "intervals weighed by the number of their calls"
                + (
                    " and by their dispersion"
                    if verdict.significance.by_dispersion
                    else "; the dispersion of single calls was not used"
                ),
            ]
            if verdict.significance.transient:
                lines.append(
                    f"the first {show_duration(self._settings.tolerance)} were slower "
                    "than the rest: a transient, left out"
                )
        if verdict.test is not None:
            if verdict.test.t is not None and verdict.test.nu is not None:
                lines.append(
                    f"Welch's t = {verdict.test.t:.4g} with {verdict.test.nu:.4g} "
                    "degrees of freedom"
                )
            lines.append(
                f"nominal p = {verdict.test.p_nominal:.3g}, too small since the split "
                "was searched"
            )
        return tuple(lines) or ("not tested",)

    def _q_value(self) -> tuple[str, ...]:
        if not self._method.corrects_for_queries:
            return ("none: the classic engine judges each query alone",)
        past = f"queries past the floors: {self._family}"
        significance = self._verdict.significance
        if significance is None:
            return (f"none; {past}",)
        return (f"q-value = {significance.q_value:.3g}; {past}",)


def _conclusion(verdict: Verdict) -> str:
    conclusion = f"{verdict.outcome} at {verdict.stage}"
    if verdict.reason:
        conclusion += f": {verdict.reason}"
    level = None if verdict.significance is None else verdict.significance.level
    if level is not None:
        conclusion += f", level {level}"
    if verdict.outcome is Outcome.DETECTED and verdict.external_cause:
        conclusion += "; may have an external cause, so pgverdict's rules do not alert"
    return conclusion


def _besides(verdict: Verdict, subject: Subject) -> Iterator[str]:
    """What it costs, how sure it is, and what else may explain it."""
    if verdict.outcome is Outcome.DETECTED and verdict.effect is not None:
        effect = verdict.effect
        interval = (
            f" (95 %: ×{effect.low:.3g} to ×{effect.high:.3g})"
            if effect.low is not None and effect.high is not None
            else ""
        )
        yield (
            f"costs: ×{effect.factor:.3g}{interval}, "
            f"{show_duration(effect.extra_seconds_per_second)}/s of database time"
        )
    if verdict.significance is not None:
        yield (
            "nothing changed: probability at least "
            f"{verdict.significance.no_change_bound:.3g}"
        )
    if verdict.replaces:
        yield f"query id: was {verdict.replaces} before the deploy; followed as one"
    for cause, sentence in with_sentences(verdict.causes, subject):
        yield f"{'external cause' if cause.external else 'note'}: {sentence}"
    if verdict.plan_change is not None:
        plan = verdict.plan_change
        yield f"plan before: {plan.before}"
        yield f"plan after: {plan.after}"
        yield from (f"  - {node}" for node in plan.lost)
        yield from (f"  + {node}" for node in plan.gained)
        yield f"  ({CAUTION})"


def _seconds(mean: float | None) -> str:
    return "nothing" if mean is None else show_duration(mean)
