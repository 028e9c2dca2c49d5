"""Statements, facts and the answers to optional measures → a whole snapshot. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..values import problems
from ..values.context import ContextRow
from ..values.missing import MissingMeasure, Refusal, Refused
from ..values.problems import Problem, Reason
from ..values.snapshot import Evictions, Server, Snapshot
from . import measures
from .connecting.facts import Facts
from .measures import Answer, Measure

Answers = Mapping[Measure, Answer | Refused]


def completed(essential: Snapshot, facts: Facts, answers: Answers) -> Snapshot:
    """Add to the *essential* part what the server answered besides, and what not."""
    numbers = {
        measure.name: value
        for measure, answer in answers.items()
        if not isinstance(answer, Refused) and measure.metric is None
        for _, value in answer
    }
    reads_all = _truth(numbers.get(measures.READS_ALL))
    answers = {
        measure: answer if reads_all or not measure.of_all_roles else _HIDDEN
        for measure, answer in answers.items()
    }
    server = _server(facts, numbers, _identity(answers))
    missing = [
        (measure, MissingMeasure(measure.name, answer))
        for measure, answer in answers.items()
        if isinstance(answer, Refused)
    ]
    return replace(
        essential,
        problems=(
            *essential.problems,
            *(_standing_problems(server) if essential.statements else ()),
            *_refusals(essential, missing, facts.role),
        ),
        server=server,
        evictions=_evictions(numbers),
        context=_context(answers),
        missing=(*essential.missing, *(each for _, each in missing)),
    )


# A role without pg_read_all_stats gets an answer, but it leaves out what others do.
_HIDDEN = Refused(Refusal.PERMISSION_DENIED)


def _server(
    facts: Facts,
    numbers: Mapping[str, float | None],
    identity: str | None,
) -> Server:
    capacity = numbers.get(measures.CAPACITY)
    return Server(
        version=facts.version,
        extension=facts.extension,
        role=facts.role,
        started=numbers.get(measures.STARTED),
        standby=_truth(numbers.get(measures.STANDBY)),
        database=facts.database,
        major=facts.major,
        collecting=_truth(numbers.get(measures.COLLECTING)),
        capacity=None if capacity is None else int(capacity),
        reads_all=_truth(numbers.get(measures.READS_ALL)),
        system_identifier=identity,
    )


def _truth(number: float | None) -> bool | None:
    return None if number is None else bool(number)


def _identity(answers: Answers) -> str | None:
    for measure, answer in answers.items():
        if measure.name == measures.IDENTITY and not isinstance(answer, Refused):
            return answer[0][0] if answer else None
    return None


def _evictions(numbers: Mapping[str, float | None]) -> Evictions | None:
    deallocations = numbers.get(measures.DEALLOCATIONS)
    reset = numbers.get(measures.RESET)
    if deallocations is None and reset is None:
        return None
    count = None if deallocations is None else int(deallocations)
    return Evictions(count, reset)


def _context(answers: Answers) -> list[ContextRow] | None:
    """Rows in the order of the measures; None without any measure."""
    return [
        ContextRow(measure.metric, label, value)
        for measure, answer in answers.items()
        if measure.metric is not None and not isinstance(answer, Refused)
        for label, value in answer
        if value is not None
    ] or None


def _standing_problems(server: Server) -> tuple[Problem, ...]:
    """What limits the answer without preventing it."""
    standing = []
    if server.reads_all is False:
        standing.append(problems.privilege_missing(server.role))
    if server.collecting is False:
        standing.append(problems.NOT_COLLECTING)
    return tuple(standing)


def _refusals(
    essential: Snapshot, missing: list[tuple[Measure, MissingMeasure]], role: str
) -> list[Problem]:
    """The problems of what was refused; that a server lacks something is none."""
    of_server = [
        *essential.missing,
        *(m for measure, m in missing if not measure.metric),
    ]
    # Those that are wrong without pg_read_all_stats have its problem already.
    of_context = [
        m for measure, m in missing if measure.metric and m.why is not _HIDDEN
    ]
    both = (
        (Reason.MEASURES_MISSING, of_server),
        (Reason.CONTEXT_MISSING, of_context),
    )
    return [
        problems.measures_missing(reason, refused, role)
        for reason, listed in both
        if (refused := [m for m in listed if m.why.refusal is not Refusal.NOT_OFFERED])
    ]
