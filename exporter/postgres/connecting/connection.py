"""The only file that opens a connection to PostgreSQL: one, one transaction at a time.

One connection serves all databases of the server (pg_stat_statements is server-wide).
It is opened when first needed and discarded after any failure. Everything happens in
read-only transactions that set what they need for themselves (defaults.py), so that it
works through a pooler in transaction mode. A frozen server ignores its time limits:
:meth:`ServerConnection.abort`, called from another thread, shuts down the socket and so
frees a read that waits for it.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Collection
from typing import Any, TypeVar

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format

from ...values import problems
from ...values.problems import Problem, Reason
from .defaults import BEGIN, SET, parameters, settings
from .encodings import ANY_BYTES, UTF8, Encoding, name_shown
from .facts import Facts, read_facts
from .refusals import from_connecting, from_sqlstate
from .session import Session

APPLICATION_NAME = "pgverdict_exporter"
Connection = psycopg.Connection[tuple[Any, ...]]
Result = TypeVar("Result")
Work = Callable[[Session, Facts], Result]


class ReadError(Exception):
    """The server could not be read; *problem* says why.

    Args:
        sqlstate: of the server's error; empty without one.
    """

    def __init__(self, problem: Problem, sqlstate: str = "") -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.sqlstate = sqlstate


def parses(dsn: str) -> bool:
    """Whether libpq can parse *dsn*; its own message may repeat a password."""
    try:
        conninfo_to_dict(dsn)
    except psycopg.Error:
        return False
    return True


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
        self._database: str | None = None
        self._guard = threading.Lock()
        self._socket: socket.socket | None = None
        self._aborted = False
        self.attempts = 0

    def transact(
        self,
        work: Work[Result],
        deadline: float,
        *,
        views: Collection[str] = (),
        database: str | None = None,
    ) -> Result:
        """Do *work* in one read-only transaction before *deadline* (time.monotonic).

        If the open connection has died since, try once more with a new one.

        Args:
            views: those whose columns *work* must know.
            database: another one than that of the connection string.

        Raises:
            ReadError: it failed; the connection was discarded.
        """
        with self._guard:
            self._aborted = False
        if database != self._database:
            self.close()
        try:
            if self._connection is not None:
                try:
                    return self._once(self._connection, work, deadline, views)
                except ReadError as error:
                    if error.problem.reason is not Reason.UNREACHABLE:
                        raise
                    self.close()
            opened = self._connect(deadline, database)
            return self._once(opened, work, deadline, views)
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
        self,
        connection: Connection,
        work: Work[Result],
        deadline: float,
        views: Collection[str],
    ) -> Result:
        facts = None
        try:
            may_set = _begin(connection, deadline - time.monotonic())
            session = Session(
                connection, _encoding(connection), deadline, may_set=may_set
            )
            facts = read_facts(session, views)
            result = work(session, facts)
            connection.execute("COMMIT")
        except psycopg.Error as error:
            problem = self._problem(error, facts)
            raise ReadError(problem, error.sqlstate or "") from None
        return result

    def _problem(self, error: psycopg.Error, facts: Facts | None) -> Problem:
        if self._aborted:
            return problems.TIMEOUT
        if error.sqlstate is None:
            return problems.unreachable("the connection broke")
        return from_sqlstate(
            error.sqlstate,
            error.diag.message_primary,
            role=facts.role if facts else "",
            schema=facts.schema if facts else "",
            extension=bool(facts and facts.statement_columns),
        )

    def _connect(self, deadline: float, database: str | None) -> Connection:
        conninfo = self._conninfo(deadline, database)
        self.attempts += 1
        try:
            connection: Connection = psycopg.connect(
                conninfo, autocommit=True, prepare_threshold=None
            )
        except psycopg.Error as error:
            raise ReadError(from_connecting(str(error))) from None
        _read_as_bytes_of(_encoding(connection), connection)
        with self._guard:
            self._connection = connection
            self._database = database
            self._socket = socket.socket(fileno=os.dup(connection.fileno()))
            if self._aborted:
                raise ReadError(problems.TIMEOUT)
        return connection

    def _conninfo(self, deadline: float, database: str | None) -> str:
        # libpq treats 1 second as 2; the scrape itself does not wait that long.
        seconds = max(2, round(deadline - time.monotonic()))
        other = {} if database is None else {"dbname": database}
        try:
            return make_conninfo(
                self._dsn(),
                application_name=APPLICATION_NAME,
                # The server then converts nothing, see encodings.py.
                client_encoding=ANY_BYTES,
                connect_timeout=seconds,
                **other,
            )
        except (OSError, UnicodeError):
            raise ReadError(problems.DSN_UNREADABLE) from None
        except psycopg.Error:
            raise ReadError(problems.DSN_MALFORMED) from None


def _begin(connection: Connection, seconds: float) -> bool:
    """Begin a transaction; whether the server permits the settings for it."""
    connection.execute(BEGIN.encode())
    try:
        connection.execute(SET, parameters(settings(seconds)))
    except psycopg.Error as error:
        if error.sqlstate is None:
            raise
        connection.execute("ROLLBACK")
        connection.execute(BEGIN.encode())
        return False
    return True


def _encoding(connection: Connection) -> Encoding:
    """That of the database; a pooler may not tell it."""
    return Encoding(connection.info.parameter_status("server_encoding") or UTF8)


def _read_as_bytes_of(encoding: Encoding, connection: Connection) -> None:
    """Register how names and plans are read from the server's unconverted bytes."""

    class NameLoader(Loader):
        format = Format.BINARY

        def load(self, data: Buffer) -> str:
            return name_shown(bytes(data), encoding)

    class PlanLoader(Loader):
        def load(self, data: Buffer) -> Any:
            return json.loads(encoding.exactly(bytes(data)))

    for name in ("name", "text"):
        connection.adapters.register_loader(name, NameLoader)
    connection.adapters.register_loader("json", PlanLoader)
