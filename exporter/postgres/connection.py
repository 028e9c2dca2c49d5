"""The only user of psycopg: one connection to one server, one transaction at a time.

One connection serves all databases of the server (pg_stat_statements is server-wide).
It is opened when first needed and discarded after any failure. Everything happens in
read-only transactions with SET LOCAL timeouts, so that it works through a pooler in
transaction mode. A frozen server ignores these timeouts:
:meth:`ServerConnection.abort`, called from another thread, shuts down the socket and so
frees a read that waits for it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format

from ..values import problems
from ..values.problems import Problem, Reason
from .refusals import from_connecting, from_sqlstate

APPLICATION_NAME = "pgverdict_exporter"
Connection = psycopg.Connection[tuple[Any, ...]]
Cursor = psycopg.Cursor[tuple[Any, ...]]
Result = TypeVar("Result")
# Most rows in a batch, and the factor by which the next one may grow or shrink.
_LARGEST_BATCH = 64
_GROWTH = 4

# PostgreSQL materialises all rows before it sends the first. 50,000 take 20 MB without
# texts; in a temporary file they would count as temporary bytes of the database.
_WORK_MEMORY = "32MB"
# Otherwise any role that may CREATE in a schema on the search path could define an
# operator that these queries would call, with the privileges of the exporter's role.
_OWN_NAMES = "SET LOCAL search_path = pg_catalog"
_SESSION_NAMES = "SET LOCAL search_path TO DEFAULT"
# is_local, because a pooler gives the session to other clients afterwards.
_FACTS = """
SELECT current_setting('server_version'),
       current_setting('server_version_num')::int4 / 10000,
       extract(epoch FROM pg_postmaster_start_time())::float8,
       pg_is_in_recovery(),
       current_setting('pg_stat_statements.track', true),
       current_setting('compute_query_id', true),
       current_setting('pg_stat_statements.max', true)::int4,
       current_user::text,
       current_database()::text,
       pg_has_role('pg_read_all_stats', 'USAGE'),
       has_function_privilege('pg_control_system()', 'EXECUTE'),
       coalesce(e.extversion, ''),
       coalesce(n.nspname::text, ''),
       set_config('statement_timeout', %(timeout)s, true),
       set_config('lock_timeout', %(timeout)s, true),
       set_config('work_mem', %(memory)s, true)
  FROM (SELECT) AS one_row
  LEFT JOIN pg_catalog.pg_extension e ON e.extname = 'pg_stat_statements'
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What each transaction reads first, in the order of the query; see Server.

    Args:
        extension, schema: of pg_stat_statements; empty where it is missing.
    """

    version: str
    major: int
    started: float
    standby: bool
    track: str | None
    compute_query_id: str | None
    capacity: int | None
    role: str
    database: str
    reads_all: bool
    reads_control: bool
    extension: str
    schema: str


Work = Callable[[Cursor, Facts], Result]


class ReadError(Exception):
    """The server could not be read; *problem* says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _LenientText(Loader):
    """Names may be bytes of another encoding: show them escaped instead of failing."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "backslashreplace")


def parses(dsn: str) -> bool:
    """Whether libpq can parse *dsn*; its own message may repeat a password."""
    try:
        conninfo_to_dict(dsn)
    except psycopg.Error:
        return False
    return True


def optional(cursor: Cursor, sql: str) -> list[tuple[Any, ...]] | None:
    """Rows of *sql*; None if the role lacks the privilege. The transaction goes on."""
    try:
        with cursor.connection.transaction():
            return cursor.execute(sql).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return None


def in_batches(
    cursor: Cursor, sql: str, parameters: Mapping[str, Any], longest: float
) -> Generator[tuple[Any, ...]]:
    """Rows of *sql*, fetched in batches: stopping early leaves nothing to cancel.

    The first batch is one row, so that even the slowest network delivers something; the
    batches grow as long as they are quick.

    Args:
        longest: seconds that a batch should take at most.
    """
    with cursor.connection.cursor("batches", binary=True) as portal:
        portal.execute(sql, parameters)
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


def answer_or_state(cursor: Cursor, sql: str) -> tuple[Any, str]:
    """First value of the answer and "", or None and the SQLSTATE of the error.

    Uses the simple protocol, so that *sql* may contain placeholders such as ``$1``; the
    caller must make sure that it is a single statement. Names are looked up along the
    search path of the role and the database. Everything is rolled back: the planner may
    call an immutable function, and its side effects must not stay.
    """
    connection = cursor.connection
    try:
        with (
            connection.transaction(force_rollback=True),
            connection.cursor() as simple,
        ):
            simple.execute(_SESSION_NAMES)
            row = simple.execute(sql.encode()).fetchone()
    except psycopg.Error as error:
        if error.sqlstate is None:
            raise
        return None, error.sqlstate
    return (row[0] if row else None), ""


class ServerConnection:
    """At most one connection to one server; one thread reads, any thread may abort.

    Args:
        dsn: returns the connection string, called for each new connection.

    Attributes:
        attempts: connections that were opened or tried.
    """

    def __init__(self, dsn: Callable[[], str]) -> None:
        self._dsn = dsn
        self._connection: Connection | None = None
        self._guard = threading.Lock()
        self._socket: socket.socket | None = None
        self._aborted = False
        self.attempts = 0

    def transact(self, work: Work[Result], deadline: float) -> Result:
        """Do *work* in one read-only transaction before *deadline* (time.monotonic).

        If the open connection has died since, try once more with a new one.

        Raises:
            ReadError: it failed; the connection was discarded.
        """
        with self._guard:
            self._aborted = False
        try:
            if self._connection is not None:
                try:
                    return self._once(self._connection, work, deadline)
                except ReadError as error:
                    if error.problem.reason is not Reason.UNREACHABLE:
                        raise
                    self.close()
            return self._once(self._connect(deadline), work, deadline)
        except BaseException:
            self.close()
            raise

    def abort(self) -> None:
        """End the work in progress, whatever it waits for."""
        with self._guard:
            self._aborted = True
            if self._socket is not None:
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    return  # the other side has closed it already

    def close(self) -> None:
        """Discard the connection; the next work opens a new one."""
        with self._guard:
            if self._socket is not None:
                self._socket.close()
                self._socket = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(
        self, connection: Connection, work: Work[Result], deadline: float
    ) -> Result:
        facts = None
        milliseconds = max(1, int(1000 * (deadline - time.monotonic())))
        try:
            with connection.transaction(), connection.cursor(binary=True) as cursor:
                limits = {"timeout": str(milliseconds), "memory": _WORK_MEMORY}
                cursor.execute(_OWN_NAMES)
                row = cursor.execute(_FACTS, limits).fetchone()
                assert row is not None  # noqa: S101 - outer joins keep the one row
                facts = Facts(*row[:-3])
                return work(cursor, facts)
        except psycopg.Error as error:
            raise ReadError(self._problem(error, facts)) from None

    def _problem(self, error: psycopg.Error, facts: Facts | None) -> Problem:
        if self._aborted:
            return problems.TIMEOUT
        if error.sqlstate is None:
            return problems.unreachable("the connection broke")
        role, schema = (facts.role, facts.schema) if facts else ("", "")
        return from_sqlstate(
            error.sqlstate, error.diag.message_primary, role=role, schema=schema
        )

    def _connect(self, deadline: float) -> Connection:
        conninfo = self._conninfo(deadline)
        self.attempts += 1
        try:
            connection: Connection = psycopg.connect(conninfo, prepare_threshold=None)
        except psycopg.Error as error:
            raise ReadError(from_connecting(str(error))) from None
        connection.read_only = True
        for name in ("name", "text"):
            connection.adapters.register_loader(name, _LenientText)
        with self._guard:
            self._connection = connection
            self._socket = socket.socket(fileno=os.dup(connection.fileno()))
            if self._aborted:
                raise ReadError(problems.TIMEOUT)
        return connection

    def _conninfo(self, deadline: float) -> str:
        # libpq treats 1 second as 2; the scrape itself does not wait that long.
        seconds = max(2, round(deadline - time.monotonic()))
        try:
            return make_conninfo(
                self._dsn(),
                application_name=APPLICATION_NAME,
                client_encoding="UTF8",
                connect_timeout=seconds,
            )
        except (OSError, UnicodeError):
            raise ReadError(problems.DSN_UNREADABLE) from None
        except psycopg.Error:
            raise ReadError(problems.DSN_MALFORMED) from None
