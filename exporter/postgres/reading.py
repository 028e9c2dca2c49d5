"""One scrape's read: the statements first, then what may be refused → a snapshot."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..values.missing import MissingMeasure, Refusal, Refused
from ..values.problems import WHILE_UP, Problem
from ..values.snapshot import Names, Snapshot
from . import measures, queries, rows
from .connecting.connection import ReadError, ServerConnection
from .connecting.facts import Facts
from .connecting.session import Session
from .context import CONTEXT
from .measures import Answer, Measure
from .snapshots import completed

_NAMES = """
SELECT true, oid, rolname FROM pg_catalog.pg_roles
 UNION ALL SELECT false, oid, datname FROM pg_catalog.pg_database
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read.

    Args:
        fields: of the statements, names from queries.py.
        context: whether to read the server-wide numbers of context.py.
    """

    fields: Collection[str]
    context: bool = False


class SnapshotReader:
    """Reads one server again and again.

    A measure that was refused is asked by itself the next time, so that a lasting
    refusal takes one error in the server's log for each scrape.
    """

    def __init__(self, connection: ServerConnection, wanted: Wanted) -> None:
        self._connection = connection
        self._wanted = wanted
        self._refused: frozenset[str] = frozenset()
        self._essential: Snapshot | None = None

    def read(self, deadline: float) -> Snapshot:
        """Read everything, or return the problem that prevented it; never raises."""
        started = time.monotonic()
        try:
            snapshot = self._read(deadline)
        except ReadError as error:
            snapshot = self._without_answer(error.problem)
        return replace(snapshot, duration=time.monotonic() - started)

    def _read(self, deadline: float) -> Snapshot:
        self._essential = None
        views = measures.views_of((*measures.server_measures(""), *CONTEXT))

        def work(session: Session, facts: Facts) -> Snapshot:
            return self._snapshot(session, facts, probing=False)

        def probing(session: Session, facts: Facts) -> Snapshot:
            return self._snapshot(session, facts, probing=True)

        try:
            return self._connection.transact(work, deadline, views=views)
        except ReadError as error:
            if self._essential is not None or error.problem.reason not in WHILE_UP:
                raise
            # Perhaps a single column was refused.
            return self._connection.transact(probing, deadline, views=views)

    def _without_answer(self, problem: Problem) -> Snapshot:
        """What is left when the server stopped to answer."""
        if self._essential is not None:
            read = self._essential
            return replace(read, problems=(*read.problems, problem))
        return Snapshot(up=problem.reason in WHILE_UP, problems=(problem,))

    def _snapshot(self, session: Session, facts: Facts, *, probing: bool) -> Snapshot:
        problem = queries.unreadable(
            facts.statement_columns, facts.schema, facts.extension
        )
        if problem is None:
            essential = _statements(
                session, facts, self._wanted.fields, probing=probing
            )
        else:
            essential = Snapshot(up=True, problems=(problem,))
        self._essential = essential
        wanted = measures.server_measures(facts.schema)
        if self._wanted.context:
            wanted += CONTEXT
        answers = self._optional(session, facts, wanted)
        return completed(essential, facts, answers)

    def _optional(
        self, session: Session, facts: Facts, wanted: Sequence[Measure]
    ) -> dict[Measure, Answer | Refused]:
        """The answer to each of *wanted*, the first of each name that is offered."""
        offered: dict[str, Measure] = {}
        for measure in wanted:
            if measure.offered(facts.view_columns):
                offered.setdefault(measure.name, measure)
        suspects = [m for m in offered.values() if m.name in self._refused]
        answers: dict[Measure, Answer | Refused] = {}
        _ask(session, [m for m in offered.values() if m not in suspects], answers)
        for measure in suspects:
            _ask(session, [measure], answers)
        self._refused = frozenset(
            measure.name
            for measure, answer in answers.items()
            if isinstance(answer, Refused)
        )
        for measure in wanted:
            if measure.name not in offered:
                answers[measure] = Refused(Refusal.NOT_OFFERED)
        return answers


def _ask(
    session: Session,
    asked: Sequence[Measure],
    answers: dict[Measure, Answer | Refused],
) -> None:
    """Add the answers: in one query, and in two halves if that is refused."""
    if not asked:
        return
    answer = session.optional(measures.measures_query(asked))
    if not isinstance(answer, Refused):
        answers.update({measure: [] for measure in asked})
        for place, label, value in answer:
            kept = answers[asked[place]]
            assert not isinstance(kept, Refused)  # noqa: S101 - made two lines above
            kept.append((label, value))
    elif len(asked) == 1:
        answers[asked[0]] = answer
    else:
        middle = len(asked) // 2
        _ask(session, asked[:middle], answers)
        _ask(session, asked[middle:], answers)


def _statements(
    session: Session, facts: Facts, wanted: Collection[str], *, probing: bool
) -> Snapshot:
    columns, schema = facts.statement_columns, facts.schema
    offered = queries.offered_columns(columns, wanted)
    lost = {field: Refused(Refusal.NOT_OFFERED) for field in wanted - offered.keys()}
    if probing:
        for field, column in offered.items():
            answer = session.optional(queries.field_probe(column, schema))
            if isinstance(answer, Refused) and field not in queries.ESSENTIAL_FIELDS:
                lost[field] = answer
    query = queries.statements_query(columns, schema, set(wanted) - lost.keys())
    answer = session.rows(query.sql)
    # Names after rows, so that a role created in between is known.
    names = _names(session.rows(_NAMES))
    return Snapshot(
        up=True,
        statements=rows.statements(answer, query, names),
        entries=rows.entries(answer, query),
        missing=tuple(MissingMeasure(field, why) for field, why in lost.items()),
    )


def _names(answer: list[tuple[Any, ...]]) -> Names:
    return Names(
        roles={oid: name for is_role, oid, name in answer if is_role},
        databases={oid: name for is_role, oid, name in answer if not is_role},
    )
