"""What ``explain`` prints, wherever the report and the samples come from."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

import numpy as np

from ..engine import DETECTORS, follow, usable_intervals
from ..errors import ConfigurationError
from ..model import Deploy, QueryIntervals, QueryKey, Report, Settings, Verdict
from ..sinks.effects.sentences import notes_of
from ..sinks.explanation import explain_verdict
from ..sources.readings import Reading
from .output import say


def chosen_verdicts(queryid: str, report: Report) -> list[Verdict]:
    """The verdicts on the queries with this id.

    Raises:
        ConfigurationError: there are none.
    """
    verdicts = [
        verdict
        for verdict in report.verdicts
        if queryid in (verdict.key.queryid, verdict.replaces)
    ]
    if not verdicts:
        raise ConfigurationError(_unknown(queryid, report))
    return verdicts


def print_explanation(
    report: Report,
    verdicts: Sequence[Verdict],
    intervals: Mapping[QueryKey, QueryIntervals],
) -> int:
    """Print the steps of each verdict; the exit code."""
    width = shutil.get_terminal_size().columns
    explained = []
    for verdict in verdicts:
        known = intervals.get(verdict.key, _none_of(verdict.key))
        checks = DETECTORS[report.settings.engine].explain(verdict, report.settings)
        explained.append(explain_verdict(verdict, checks, known, report, width=width))
    say("\n\n".join(explained))
    for note in notes_of(report):
        say(f"note: {note}")
    return int(any(verdict in report.detected for verdict in verdicts))


def intervals_of(
    reading: Reading,
    fingerprints: Mapping[QueryKey, str],
    deploy: Deploy,
    settings: Settings,
) -> dict[QueryKey, QueryIntervals]:
    """The usable intervals of every query inside the windows."""
    start, end = deploy.at - settings.window, deploy.at + settings.window
    return {
        query.key: query
        for batch in reading.batches
        for query in usable_intervals(
            follow(
                batch, fingerprints, at=deploy.at, tolerance=settings.tolerance
            ).between(start, end),
            max_gap=settings.max_gap,
        )
    }


def _none_of(key: QueryKey) -> QueryIntervals:
    """No interval: the samples are not kept any more."""
    return QueryIntervals(key, *(np.empty(0) for _ in range(4)))


def _unknown(queryid: str, report: Report) -> str:
    """Which ids there are, the costliest first."""
    costliest = sorted(report.verdicts, key=lambda v: (-v.after.seconds, v.key.queryid))
    known = list(dict.fromkeys(verdict.key.queryid for verdict in costliest))
    listed = ", ".join(known[:5]) + (" …" if len(known) > 5 else "")
    return (
        f"QUERYID: no query {queryid} around this deploy; the costliest are "
        f"{listed or 'none'}"
    )
