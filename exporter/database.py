"""The only psycopg user: one connection to one server, one transaction at a time.

One connection for all databases of the server (pg_stat_statements is server-wide),
opened when first needed and thrown away after any failure. Everything happens in
read-only transactions with SET LOCAL timeouts, so that a pooler in transaction mode can
stand between. A frozen server ignores these timeouts: :meth:`Database.abort`, called
from another thread, shuts the socket down and so frees a read that waits for it.
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

from . import problems
from .problems import Problem, Reason
from .refusals import from_connecting, from_sqlstate

APPLICATION_NAME = "pgverdict_exporter"
Connection = psycopg.Connection[tuple[Any, ...]]
Cursor = psycopg.Cursor[tuple[Any, ...]]
Result = TypeVar("Result")
# Rows of a batch at most, and how much larger or smaller the next may be.
_LARGEST_BATCH = 64
_GROWTH = 4

# PostgreSQL puts all rows aside before it sends the first. 50,000 take 20 MB without
# texts; in a temporary file they would be counted among the temporary bytes.
_WORK_MEMORY = "32MB"
# Whoever may CREATE in a schema on the search path could else put an operator beneath
# our queries that runs as our role.
_OWN_NAMES = "SET LOCAL search_path = pg_catalog"
_SESSION_NAMES = "SET LOCAL search_path TO DEFAULT"
# is_local: a pooler hands the session to others afterwards.
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
    """What a transaction learns first, in the order of the query; see Server.

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
    """Names may be bytes of another encoding; show these, do not fail."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "backslashreplace")


def understands(dsn: str) -> bool:
    """Whether libpq can make sense of *dsn*; its own words may repeat a password."""
    try:
        conninfo_to_dict(dsn)
    except psycopg.Error:
        return False
    return True


def optional(cursor: Cursor, sql: str) -> list[tuple[Any, ...]] | None:
    """Rows of *sql*; None where the role may not, and the transaction goes on."""
    try:
        with cursor.connection.transaction():
            return cursor.execute(sql).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return None


def in_batches(
    cursor: Cursor, sql: str, parameters: Mapping[str, Any], longest: float
) -> Generator[tuple[Any, ...]]:
    """Rows of *sql*, asked for by and by: who takes no more has nothing to cancel.

    The first batch is one row, so that even the slowest network brings something; the
    others grow while they are quick.

    Args:
        longest: seconds that a batch should take at most.
    """
    with cursor.connection.cursor("batches", binary=True) as portal:
        portal.execute(sql, parameters)
        size = 1
        begun = time.monotonic()
        while batch := portal.fetchmany(size):
            took = time.monotonic() - begun
            yield from batch
            if size < _LARGEST_BATCH and took < longest / _GROWTH:
                size *= _GROWTH
            elif size > 1 and took > longest:
                size //= _GROWTH
            begun = time.monotonic()


def answer_or_state(cursor: Cursor, sql: str) -> tuple[Any, str]:
    """First value of the answer and "", or None and the SQLSTATE of the refusal.

    In the simple protocol, so that *sql* may hold placeholders such as ``$1``; the
    caller answers for its being one statement. Names are looked up as the role and the
    database say. The transaction goes on as if it had not been asked: the planner may
    call an immutable function, and what that sets must not stay.
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


class Database:
    """One server. One thread at a time reads; any thread may abort.

    Args:
        dsn: gives the connection string anew for each connection.
    """

    def __init__(self, dsn: Callable[[], str]) -> None:
        self._dsn = dsn
        self._connection: Connection | None = None
        self._guard = threading.Lock()
        self._socket: socket.socket | None = None
        self._aborted = False
        self.connects = 0

    def transact(self, work: Work[Result], deadline: float) -> Result:
        """Do *work* in one read-only transaction before *deadline* (time.monotonic).

        A kept connection may have died since: then once more with a new one.

        Raises:
            ReadError: it was not possible; the connection was thrown away.
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
        """End the work that is under way, whatever it waits for."""
        with self._guard:
            self._aborted = True
            if self._socket is not None:
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    return  # the other side closed it already

    def close(self) -> None:
        """Throw the connection away; the next work makes a new one."""
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
        left = max(1, int(1000 * (deadline - time.monotonic())))
        try:
            with connection.transaction(), connection.cursor(binary=True) as cursor:
                limits = {"timeout": str(left), "memory": _WORK_MEMORY}
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
        self.connects += 1
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
        # libpq takes 1 for 2 seconds; the scrape itself does not wait that long.
        patience = max(2, round(deadline - time.monotonic()))
        try:
            return make_conninfo(
                self._dsn(),
                application_name=APPLICATION_NAME,
                client_encoding="UTF8",
                connect_timeout=patience,
            )
        except (OSError, UnicodeError):
            raise ReadError(problems.DSN_UNREADABLE) from None
        except psycopg.Error:
            raise ReadError(problems.DSN_MALFORMED) from None
