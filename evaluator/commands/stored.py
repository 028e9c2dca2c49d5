"""A deploy that a running evaluator has judged already, explained from its report."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

import structlog

from ..assembly import Systems
from ..errors import NoDataError
from ..model import Deploy, Report
from ..service.ledger import stored_report
from ..settings.schema import load
from ..sources.readings import Reading
from ..units import show_time
from .explanation import chosen_verdicts, intervals_of, print_explanation
from .output import say
from .selection import engine_with

log = structlog.get_logger()


def stored(options: argparse.Namespace) -> tuple[Report, Systems] | None:
    """The report of a running evaluator, if it judged this deploy as is asked for."""
    if options.capture is not None or options.deploy is None:
        return None
    config = load(options.config_file)
    report = stored_report(config.service.state, options.deploy)
    if report is None or report.failure or not isinstance(report.subject, Deploy):
        return None
    engine = engine_with(config.engine, window=options.window, name=options.engine)
    if report.settings != engine.settings():
        return None
    return report, Systems(config, os.environ)


def explain_stored(queryid: str, report: Report, systems: Systems) -> int:
    """Read the samples of this one query only."""
    verdicts = chosen_verdicts(queryid, report)
    deploy, settings = report.subject, report.settings
    assert isinstance(deploy, Deploy)  # noqa: S101 - see _stored
    ids = {verdict.key.queryid for verdict in verdicts}
    ids |= {verdict.replaces for verdict in verdicts if verdict.replaces}
    start, end = deploy.at - settings.window, deploy.at + settings.window
    try:
        reading = systems.read(deploy, start, end, ids)
    except NoDataError as error:
        log.warning("nothing to draw", error=str(error))
        reading = Reading()
    # What was followed as one query then is one statement.
    same = {
        key: verdict.key.queryid
        for verdict in verdicts
        for key in (verdict.key, replace(verdict.key, queryid=verdict.replaces))
        if verdict.replaces
    }
    say(f"note: the report stored by `run` at {show_time(report.judged_at)}")
    return print_explanation(
        report, verdicts, intervals_of(reading, same, deploy, settings)
    )
