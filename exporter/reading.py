"""What is asked of the server, inside a transaction of database.py → plain values."""

from __future__ import annotations

import time
from collections.abc import Collection, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from . import columns, problems, rows
from .context import context_query
from .database import (
    Cursor,
    Database,
    Facts,
    ReadError,
    answer_or_state,
    in_batches,
    optional,
)
from .plans import Plan, Skipped, explain_sql, plan_of, skipped_for
from .problems import WHILE_UP, Problem
from .snapshot import Evictions, Names, Server, Snapshot, StatementKey
from .texts import text_of

_IDENTITY = "SELECT system_identifier::text FROM pg_control_system()"
_NAMES = """
SELECT true, oid, rolname FROM pg_catalog.pg_roles
 UNION ALL SELECT false, oid, datname FROM pg_catalog.pg_database
"""
# Longer texts get no fingerprint: lists of thousands of constants, mostly.
PARSED_BYTES = 100_000
# The share of its time that one batch of texts may take, and what is kept for the last
# one: at the end of the time the connection is cut.
_ONE_BATCH = 0.2


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read.

    Args:
        fields: of the statements, names from columns.py.
        context: whether to read what is in context.py.
    """

    fields: Collection[str]
    context: bool = False


def read_snapshot(database: Database, wanted: Wanted, deadline: float) -> Snapshot:
    """Read everything, or say why it was not possible; never raises."""
    started = time.monotonic()
    try:
        snapshot = database.transact(
            lambda cursor, facts: _snapshot(cursor, facts, wanted), deadline
        )
    except ReadError as error:
        up = error.problem.reason in WHILE_UP
        snapshot = Snapshot(up=up, problems=(error.problem,))
    return replace(snapshot, duration=time.monotonic() - started)


def _snapshot(cursor: Cursor, facts: Facts, wanted: Wanted) -> Snapshot:
    server = _server(facts, _identity(cursor, facts))
    sql = context_query(facts.major) if wanted.context else None
    context = optional(cursor, sql) if sql else None
    missing = (problems.CONTEXT_MISSING,) if sql and context is None else ()
    problem = _unreadable(facts)
    if problem is not None:
        told = (problem, *missing)
        return Snapshot(up=True, problems=told, server=server, context=context)
    version = columns.version_of(facts.extension)
    query = columns.statements_query(version, facts.schema, wanted.fields)
    found = cursor.execute(query.sql).fetchall()
    # Names after rows: a role made in between is known then.
    names = _names(cursor.execute(_NAMES).fetchall())
    return Snapshot(
        up=True,
        problems=(*_standing_problems(server), *missing),
        server=server,
        statements=rows.statements(found, query, names),
        evictions=_evictions(cursor, version, facts.schema),
        entries=rows.entries(found, query),
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
    if columns.version_of(facts.extension) < columns.OLDEST:
        return problems.extension_too_old(facts.extension)
    return None


def _standing_problems(server: Server) -> tuple[Problem, ...]:
    """What limits the answer without preventing it."""
    found = []
    if not server.reads_all:
        found.append(problems.privilege_missing(server.role))
    if server.collecting is False:
        found.append(problems.NOT_COLLECTING)
    return tuple(found)


def _names(found: list[tuple[Any, ...]]) -> Names:
    return Names(
        roles={oid: name for is_role, oid, name in found if is_role},
        databases={oid: name for is_role, oid, name in found if not is_role},
    )


def _evictions(
    cursor: Cursor, version: columns.Version, schema: str
) -> Evictions | None:
    sql = columns.evictions_query(version, schema)
    row = cursor.execute(sql).fetchone() if sql else None
    return Evictions(deallocations=row[0], reset=row[1]) if row else None


def read_texts(
    database: Database,
    keys: Collection[StatementKey],
    length: int,
    deadline: float,
    into: dict[StatementKey, str],
) -> bool:
    """Put labels with the texts of the statements *keys* into *into* as they come.

    A text is absent while the server cannot read its file of texts.

    Args:
        length: characters to show of each.
        deadline: when to end, with or without all of them.

    Returns:
        Whether everything that the server has of them was read.

    Raises:
        ReadError: the server could not be read, or no further.
    """
    spare = _ONE_BATCH * (deadline - time.monotonic())

    def work(cursor: Cursor, facts: Facts) -> bool:
        with closing(_texts(cursor, facts, keys, length, spare)) as found:
            for key, cut, whole in found:
                if cut is not None:
                    into[key] = text_of(cut, whole)
                if time.monotonic() >= deadline - spare:
                    return False
        return True

    return database.transact(work, deadline)


def _texts(
    cursor: Cursor,
    facts: Facts,
    keys: Collection[StatementKey],
    length: int,
    longest: float,
) -> Generator[tuple[StatementKey, str | None, str | None]]:
    """Key, cut text, whole text; by and by: all may be hundreds of megabytes."""
    problem = _unreadable(facts)
    if problem is not None:
        raise ReadError(problem)
    sql = columns.texts_query(columns.version_of(facts.extension), facts.schema)
    asked = {
        "ids": list({queryid for _, _, queryid, _ in keys}),
        "length": length,
        "whole": PARSED_BYTES,
    }
    wanted = frozenset(keys)
    with closing(in_batches(cursor, sql, asked, longest)) as found:
        for *head, cut, whole in found:
            if (key := tuple(head)) in wanted:
                yield key, cut, whole


def read_whole_texts(
    database: Database, keys: Collection[StatementKey], deadline: float
) -> dict[StatementKey, str]:
    """Whole texts of the statements *keys*, of those that are not too long.

    Raises:
        ReadError: they could not be read.
    """
    longest = _ONE_BATCH * (deadline - time.monotonic())

    def work(cursor: Cursor, facts: Facts) -> dict[StatementKey, str]:
        with closing(_texts(cursor, facts, keys, 1, longest)) as found:
            return {key: whole for key, _, whole in found if whole}

    return database.transact(work, deadline)


def read_plan(database: Database, query: str, deadline: float) -> Plan | Skipped:
    """The generic plan of *query*, which is one statement that has a plan.

    Raises:
        ReadError: the server could not be asked.
    """

    def work(cursor: Cursor, _: Facts) -> Plan | Skipped:
        try:
            explained, state = answer_or_state(cursor, explain_sql(query))
            return skipped_for(state) if state else plan_of(explained)
        except ValueError:
            return Skipped.NOT_EXPLAINABLE
        except RecursionError:  # hundreds of nodes, one below the other
            return Skipped.FAILED

    return database.transact(work, deadline)
