"""Query texts and plans, read apart from the scrapes.

PostgreSQL converts all texts to the encoding of the database that the exporter is
connected to, and refuses all of them where it cannot convert one. Another database of
the server may have an encoding that has room for all: SQL_ASCII takes any bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator
from contextlib import closing
from typing import TypeVar

from ..values import problems
from ..values.plan import Plan, Skipped
from ..values.snapshot import LabelPairs, StatementKey
from . import queries
from .connecting.connection import ReadError, ServerConnection, Work
from .connecting.encodings import ANY_BYTES, UTF8, Encoding, text_shown
from .connecting.facts import Facts
from .connecting.refusals import CONVERSION
from .connecting.session import Session
from .plans import explain_sql, plan_of, skipped_for
from .texts import text_labels

# Longer texts get no fingerprint: most are lists of thousands of constants.
PARSED_BYTES = 100_000
# The share of the time that one batch of texts may take. As much is kept free at the
# end for the batch in progress, because the connection is cut at the deadline.
_ONE_BATCH = 0.2
# A character in UTF-8 has at most this many bytes.
_LONGEST_CHARACTER = 4
# How many other databases are tried.
_MOST_DATABASES = 5
_DATABASES = """
SELECT datname, pg_encoding_to_char(encoding)::text
  FROM pg_catalog.pg_database
 WHERE datallowconn AND NOT datistemplate AND datname <> current_database()
   AND has_database_privilege(oid, 'CONNECT')
 ORDER BY pg_encoding_to_char(encoding) = %(first)s DESC,
          pg_encoding_to_char(encoding) = %(second)s DESC, datname
 LIMIT %(most)s
"""
Result = TypeVar("Result")
Text = tuple[StatementKey, str | None, str | None]


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

    def work(session: Session, facts: Facts) -> bool:
        with closing(_texts(session, facts, keys, length, reserve)) as texts:
            for key, shown, whole in texts:
                if shown is not None:
                    hand_over(key, text_labels(shown, whole))
                if time.monotonic() >= deadline - reserve:
                    return False
        return True

    return _where_convertible(connection, work, deadline)


def read_whole_texts(
    connection: ServerConnection, keys: Collection[StatementKey], deadline: float
) -> dict[StatementKey, str]:
    """Whole texts of the statements *keys*, except those that are too long.

    Raises:
        ReadError: they could not be read.
    """
    longest = _ONE_BATCH * (deadline - time.monotonic())

    def work(session: Session, facts: Facts) -> dict[StatementKey, str]:
        with closing(_texts(session, facts, keys, 1, longest)) as texts:
            return {key: whole for key, _, whole in texts if whole}

    return _where_convertible(connection, work, deadline)


def read_plan(
    connection: ServerConnection, query: str, deadline: float
) -> Plan | Skipped:
    """The generic plan of *query*, a single statement that has a plan.

    Raises:
        ReadError: the server could not be read.
    """

    def work(session: Session, _: Facts) -> Plan | Skipped:
        try:
            explained, state = session.explained(explain_sql(query))
            return skipped_for(state) if state else plan_of(explained)
        except ValueError:
            return Skipped.NOT_EXPLAINABLE
        except RecursionError:  # hundreds of nested nodes
            return Skipped.FAILED

    return connection.transact(work, deadline)


def _where_convertible(
    connection: ServerConnection, work: Work[Result], deadline: float
) -> Result:
    """Do *work* in a database whose encoding has room for every text."""
    try:
        return connection.transact(work, deadline)
    except ReadError as error:
        if error.sqlstate not in CONVERSION:
            raise
    for name in connection.transact(_other_databases, deadline):
        try:
            return connection.transact(work, deadline, database=name)
        except ReadError as error:
            if error.problem is problems.TIMEOUT:
                raise
    raise ReadError(problems.ENCODING)


def _other_databases(session: Session, _: Facts) -> list[str]:
    """Databases that the role may connect to, those that take any text first."""
    wanted = {"first": ANY_BYTES, "second": UTF8, "most": _MOST_DATABASES}
    return [name for name, _ in session.rows(_DATABASES, wanted)]


def _texts(
    session: Session,
    facts: Facts,
    keys: Collection[StatementKey],
    length: int,
    longest: float,
) -> Generator[Text]:
    """Key, cut text, whole text; in batches: all may be hundreds of megabytes."""
    problem = queries.unreadable(facts.statement_columns, facts.schema, facts.extension)
    if problem is not None:
        raise ReadError(problem)
    sql = queries.texts_query(facts.statement_columns, facts.schema)
    any_bytes = session.encoding.codec is None
    parameters = {
        "ids": list({queryid for _, _, queryid, _ in keys}),
        # There PostgreSQL counts bytes.
        "length": length * (_LONGEST_CHARACTER if any_bytes else 1),
        "whole": PARSED_BYTES,
    }
    wanted = frozenset(keys)
    with closing(session.batches(sql, parameters, longest)) as batches:
        for *head, encoding, shown, whole in batches:
            if (key := tuple(head)) in wanted:
                own = session.encoding, Encoding((encoding or b"").decode())
                cut = None if shown is None else text_shown(shown, *own)[:length]
                yield key, cut, None if whole is None else text_shown(whole, *own)
