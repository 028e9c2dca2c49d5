"""Questions to the server within one transaction.

An essential question raises the server's error; an optional one returns it as a value,
and the transaction goes on as if it had not been asked.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.rows import TupleRow

from ...values.missing import Refusal, Refused
from .defaults import SET, limits
from .defaults import parameters as settings_as
from .encodings import Encoding
from .refusals import refused_with

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]

# Most rows in a batch, and the factor by which the next one may grow or shrink.
_LARGEST_BATCH = 64
_GROWTH = 4
# An optional question may take this share of the time that is left, and may wait for
# locks for this share.
_OPTIONAL_SHARE = 1 / 5
_LOCK_SHARE = 1 / 20
# With less time left, in seconds, optional questions are not asked.
_LEAST_TIME = 0.05
_BEGIN_OPTIONAL = b"SAVEPOINT optional"
# Also when all went well: it puts the timeouts back.
_END_OPTIONAL = b"ROLLBACK TO SAVEPOINT optional; RELEASE SAVEPOINT optional"
_BEGIN_EXPLAIN = (
    b"SAVEPOINT explain; SET LOCAL search_path TO DEFAULT; "
    b"SET LOCAL work_mem TO DEFAULT"
)
_END_EXPLAIN = b"ROLLBACK TO SAVEPOINT explain; RELEASE SAVEPOINT explain"


class _Raw(Loader):
    """Text as the server's bytes."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(data)


class Session:
    """The transaction in progress on *connection*.

    Args:
        deadline: when the transaction must have ended, by time.monotonic.
        may_set: whether the server permits to set time limits.

    Attributes:
        encoding: of the database.
    """

    def __init__(
        self,
        connection: psycopg.Connection[TupleRow],
        encoding: Encoding,
        deadline: float,
        *,
        may_set: bool,
    ) -> None:
        self._connection = connection
        self._may_set = may_set
        self._deadline = deadline
        self.encoding = encoding

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        """All rows of *sql*."""
        with self._connection.cursor(binary=True) as cursor:
            return cursor.execute(self.encoding.encode(sql), parameters).fetchall()

    def optional(
        self, sql: str, parameters: Parameters | None = None
    ) -> list[Row] | Refused:
        """All rows of *sql*, or why the server refused, whatever its reason."""
        left = self._deadline - time.monotonic()
        if left < _LEAST_TIME:
            return Refused(Refusal.TIMEOUT)
        self._connection.execute(_BEGIN_OPTIONAL)
        try:
            if self._may_set:
                shares = {"statement": _OPTIONAL_SHARE, "lock": _LOCK_SHARE}
                seconds = {name: left * share for name, share in shares.items()}
                self.rows(SET, settings_as(limits(**seconds)))
            answer: list[Row] | Refused = self.rows(sql, parameters)
        except psycopg.Error as error:
            if error.sqlstate is None:
                raise
            answer = refused_with(error.sqlstate)
        self._connection.execute(_END_OPTIONAL)
        return answer

    def batches(
        self, sql: str, parameters: Parameters, longest: float
    ) -> Generator[Row]:
        """Rows of *sql*, in batches, texts as bytes; stopping early cancels nothing.

        The first batch is one row, so that even the slowest network delivers something;
        the batches grow as long as they are quick.

        Args:
            longest: seconds that a batch should take at most.
        """
        with self._connection.cursor("batches", binary=True) as portal:
            portal.adapters.register_loader("text", _Raw)
            portal.execute(self.encoding.encode(sql), parameters)
            size = 1
            started = time.monotonic()
            while batch := portal.fetchmany(size):
                took = time.monotonic() - started
                yield from batch
                if size < _LARGEST_BATCH and took < longest / _GROWTH:
                    size *= _GROWTH
                elif size > 1 and took > longest:
                    size //= _GROWTH
                started = time.monotonic()

    def explained(self, sql: str) -> tuple[Any, str]:
        """First value of the answer and "", or None and the SQLSTATE of the error.

        Uses the simple protocol, so that *sql* may contain placeholders such as ``$1``;
        the caller must make sure that it is a single statement. Names are looked up
        along the search path of the role and the database, and the planner has the
        memory that they have. Everything is rolled back: the planner may call an
        immutable function, and its side effects must not stay.
        """
        self._connection.execute(_BEGIN_EXPLAIN)
        answer, state = None, ""
        try:
            row = self._connection.execute(self.encoding.encode(sql)).fetchone()
            answer = row[0] if row else None
        except psycopg.Error as error:
            if error.sqlstate is None:
                raise
            state = error.sqlstate
        self._connection.execute(_END_EXPLAIN)
        return answer, state
