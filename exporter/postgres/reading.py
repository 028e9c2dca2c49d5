"""What is read from the server in one transaction → plain values."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from ..values import problems
from ..values.plan import Plan, Skipped
from ..values.problems import WHILE_UP, Problem
from ..values.snapshot import (
    Evictions,
    LabelPairs,
    Names,
    Server,
    Snapshot,
    StatementKey,
)
from . import queries, rows
from .connection import (
    Cursor,
    Facts,
    ReadError,
    ServerConnection,
    answer_or_state,
    in_batches,
    optional,
)
from .context import context_query, context_rows
from .plans import explain_sql, plan_of, skipped_for
from .texts import text_labels

_IDENTITY = "SELECT system_identifier::text FROM pg_control_system()"
_NAMES = """
SELECT true, oid, rolname FROM pg_catalog.pg_roles
 UNION ALL SELECT false, oid, datname FROM pg_catalog.pg_database
"""
# Longer texts get no fingerprint: most are lists of thousands of constants.
PARSED_BYTES = 100_000
# The share of the time that one batch of texts may take. As much is kept free at the
# end for the batch in progress, because the connection is cut at the deadline.
_ONE_BATCH = 0.2


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read.

    Args:
        fields: of the statements, names from queries.py.
        context: whether to read the server-wide numbers of context.py.
    """

    fields: Collection[str]
    context: bool = False


def read_snapshot(
    connection: ServerConnection, wanted: Wanted, deadline: float
) -> Snapshot:
    """Read everything, or return the problem that prevented it; never raises."""
    started = time.monotonic()
    try:
        snapshot = connection.transact(
            lambda cursor, facts: _snapshot(cursor, facts, wanted), deadline
        )
    except ReadError as error:
        up = error.problem.reason in WHILE_UP
        snapshot = Snapshot(up=up, problems=(error.problem,))
    return replace(snapshot, duration=time.monotonic() - started)


def _snapshot(cursor: Cursor, facts: Facts, wanted: Wanted) -> Snapshot:
    server = _server(facts, _identity(cursor, facts))
    sql = context_query(facts.major) if wanted.context else None
    answer = optional(cursor, sql) if sql else None
    context = None if answer is None else context_rows(answer)
    missing = (problems.CONTEXT_MISSING,) if sql and context is None else ()
    problem = _unreadable(facts)
    if problem is not None:
        return Snapshot(
            up=True, problems=(problem, *missing), server=server, context=context
        )
    version = queries.version_of(facts.extension)
    query = queries.statements_query(version, facts.schema, wanted.fields)
    read = cursor.execute(query.sql).fetchall()
    # Names after rows, so that a role created in between is known.
    names = _names(cursor.execute(_NAMES).fetchall())
    return Snapshot(
        up=True,
        problems=(*_standing_problems(server), *missing),
        server=server,
        statements=rows.statements(read, query, names),
        evictions=_evictions(cursor, version, facts.schema),
        entries=rows.entries(read, query),
        context=context,
    )


def _server(facts: Facts, identity: str | None) -> Server:
    collecting = None
    if facts.track is not None:
        collecting = facts.track != "none" and facts.compute_query_id != "off"
    return Server(
        version=facts.version,
        extension=facts.extension,
        role=facts.role,
        started=facts.started,
        standby=facts.standby,
        database=facts.database,
        major=facts.major,
        collecting=collecting,
        capacity=facts.capacity,
        reads_all=facts.reads_all,
        system_identifier=identity,
    )


def _identity(cursor: Cursor, facts: Facts) -> str | None:
    row = cursor.execute(_IDENTITY).fetchone() if facts.reads_control else None
    return row[0] if row else None


def _unreadable(facts: Facts) -> Problem | None:
    if not facts.extension:
        return problems.EXTENSION_MISSING
    if queries.version_of(facts.extension) < queries.OLDEST:
        return problems.extension_too_old(facts.extension)
    return None


def _standing_problems(server: Server) -> tuple[Problem, ...]:
    """What limits the answer without preventing it."""
    standing = []
    if not server.reads_all:
        standing.append(problems.privilege_missing(server.role))
    if server.collecting is False:
        standing.append(problems.NOT_COLLECTING)
    return tuple(standing)


def _names(answer: list[tuple[Any, ...]]) -> Names:
    return Names(
        roles={oid: name for is_role, oid, name in answer if is_role},
        databases={oid: name for is_role, oid, name in answer if not is_role},
    )


def _evictions(
    cursor: Cursor, version: queries.Version, schema: str
) -> Evictions | None:
    sql = queries.evictions_query(version, schema)
    row = cursor.execute(sql).fetchone() if sql else None
    return Evictions(deallocations=row[0], reset=row[1]) if row else None


def read_texts(
    connection: ServerConnection,
    keys: Collection[StatementKey],
    length: int,
    deadline: float,
    hand_over: Callable[[StatementKey, LabelPairs], None],
) -> bool:
    """Read the texts of the statements *keys*, and hand over each one as it comes.

    A text does not come while the server cannot read its file of texts.

    Args:
        length: characters to show of each.
        deadline: when to end, with or without all of them.
        hand_over: takes a statement and the labels of its text.

    Returns:
        Whether everything that the server has of them was read.

    Raises:
        ReadError: the server could not be read, or not to the end.
    """
    reserve = _ONE_BATCH * (deadline - time.monotonic())

    def work(cursor: Cursor, facts: Facts) -> bool:
        with closing(_texts(cursor, facts, keys, length, reserve)) as texts:
            for key, shown, whole in texts:
                if shown is not None:
                    hand_over(key, text_labels(shown, whole))
                if time.monotonic() >= deadline - reserve:
                    return False
        return True

    return connection.transact(work, deadline)


def _texts(
    cursor: Cursor,
    facts: Facts,
    keys: Collection[StatementKey],
    length: int,
    longest: float,
) -> Generator[tuple[StatementKey, str | None, str | None]]:
    """Key, cut text, whole text; in batches: all may be hundreds of megabytes."""
    problem = _unreadable(facts)
    if problem is not None:
        raise ReadError(problem)
    sql = queries.texts_query(queries.version_of(facts.extension), facts.schema)
    parameters = {
        "ids": list({queryid for _, _, queryid, _ in keys}),
        "length": length,
        "whole": PARSED_BYTES,
    }
    wanted = frozenset(keys)
    with closing(in_batches(cursor, sql, parameters, longest)) as batches:
        for *head, shown, whole in batches:
            if (key := tuple(head)) in wanted:
                yield key, shown, whole


def read_whole_texts(
    connection: ServerConnection, keys: Collection[StatementKey], deadline: float
) -> dict[StatementKey, str]:
    """Whole texts of the statements *keys*, except those that are too long.

    Raises:
        ReadError: they could not be read.
    """
    longest = _ONE_BATCH * (deadline - time.monotonic())

    def work(cursor: Cursor, facts: Facts) -> dict[StatementKey, str]:
        with closing(_texts(cursor, facts, keys, 1, longest)) as texts:
            return {key: whole for key, _, whole in texts if whole}

    return connection.transact(work, deadline)


def read_plan(
    connection: ServerConnection, query: str, deadline: float
) -> Plan | Skipped:
    """The generic plan of *query*, a single statement that has a plan.

    Raises:
        ReadError: the server could not be read.
    """

    def work(cursor: Cursor, _: Facts) -> Plan | Skipped:
        try:
            explained, state = answer_or_state(cursor, explain_sql(query))
            return skipped_for(state) if state else plan_of(explained)
        except ValueError:
            return Skipped.NOT_EXPLAINABLE
        except RecursionError:  # hundreds of nested nodes
            return Skipped.FAILED

    return connection.transact(work, deadline)
