"""The steps that the methods share, and what each of them needs."""

from __future__ import annotations

from collections.abc import Mapping

from ...model import Check, CheckResult, Outcome, Settings, Stage, Verdict

# In their order, with the stage of a verdict that the step settles.
_STEPS = {
    "intervals": None,
    "floors": Stage.FLOORS,
    "pre-filter": Stage.PREFILTER,
    "split": Stage.EDIVISIVE,
    "tolerance": Stage.TOLERANCE,
    "test": Stage.WELCH,
    "family": Stage.FAMILY,
}


def checks(
    verdict: Verdict, settings: Settings, own: Mapping[str, Mapping[str, float]]
) -> tuple[Check, ...]:
    """Every step as it went for the query of *verdict*.

    Args:
        own: what the steps of the method need beyond what is common, by step.
    """
    needs: dict[str, Mapping[str, float]] = {
        "floors": {"intervals": settings.min_samples, "calls": settings.min_calls},
        "pre-filter": {"factor": 1.0 + settings.threshold},
        "tolerance": {"seconds": settings.tolerance},
        **own,
    }
    settled = list(_STEPS.values()).index(verdict.stage)
    last = (
        CheckResult.PASSED
        if verdict.outcome is Outcome.DETECTED
        else CheckResult.STOPPED
    )
    return tuple(
        Check(
            name,
            needs.get(name, {}),
            CheckResult.PASSED
            if place < settled
            else last
            if place == settled
            else CheckResult.NOT_REACHED,
        )
        for place, name in enumerate(_STEPS)
    )
