"""The only file that speaks SQL: one connection to one server, read → Snapshot.

One connection for all databases of the server (the view is server-wide), opened when
first needed and thrown away after any failure. Everything happens in a read-only
transaction with SET LOCAL timeouts, so that a pooler in transaction mode can stand
between. A frozen server ignores these timeouts: :meth:`Database.abort`, called from
another thread, shuts the socket down and so frees a read that waits for it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format

from . import columns, problems, rows
from .problems import Problem
from .snapshot import Evictions, Names, Server, Snapshot

APPLICATION_NAME = "pgverdict_exporter"
Connection = psycopg.Connection[tuple[Any, ...]]
Cursor = psycopg.Cursor[tuple[Any, ...]]

# is_local: a pooler hands the session to others afterwards.
_FACTS = """
SELECT set_config('statement_timeout', %(timeout)s, true),
       set_config('lock_timeout', %(timeout)s, true),
       current_setting('server_version') AS version,
       extract(epoch FROM pg_postmaster_start_time())::float8 AS started,
       pg_is_in_recovery() AS standby,
       current_setting('pg_stat_statements.track', true) AS track,
       current_setting('compute_query_id', true) AS compute_query_id,
       current_setting('pg_stat_statements.max', true)::int4 AS capacity,
       current_user::text AS role,
       pg_has_role('pg_read_all_stats', 'USAGE') AS reads_all,
       has_function_privilege('pg_control_system()', 'EXECUTE') AS reads_control,
       e.extversion AS extension,
       n.nspname AS schema
  FROM (SELECT) AS one_row
  LEFT JOIN pg_catalog.pg_extension e ON e.extname = 'pg_stat_statements'
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
"""
_IDENTITY = "SELECT system_identifier::text FROM pg_control_system()"
_NAMES = """
SELECT true, oid, rolname FROM pg_catalog.pg_roles
 UNION ALL SELECT false, oid, datname FROM pg_catalog.pg_database
"""


class ReadError(Exception):
    """The server could not be read; *problem* says why."""

    def __init__(self, problem: Problem, *, up: bool = False) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.up = up


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


class Database:
    """One server. One thread at a time reads; any thread may abort.

    Args:
        dsn: gives the connection string anew for each connection.
        fields: of the statements, names from columns.py.
    """

    def __init__(self, dsn: Callable[[], str], fields: Collection[str]) -> None:
        self._dsn = dsn
        self._fields = frozenset(fields)
        self._connection: Connection | None = None
        self._guard = threading.Lock()
        self._socket: socket.socket | None = None
        self._aborted = False
        self.connects = 0

    def read(self, deadline: float) -> Snapshot:
        """Read everything before *deadline* (clock: time.monotonic); never raises."""
        started = time.monotonic()
        with self._guard:
            self._aborted = False
        try:
            snapshot = self._read_persistently(deadline)
        except ReadError as error:
            self.close()
            snapshot = Snapshot(up=error.up, problems=(error.problem,))
        return replace(snapshot, duration=time.monotonic() - started)

    def _read_persistently(self, deadline: float) -> Snapshot:
        """A kept connection may have died since: then try once more with a new one."""
        if self._connection is not None:
            try:
                return self._read(self._connection, deadline)
            except ReadError as error:
                if error.problem.reason is not problems.Reason.UNREACHABLE:
                    raise
                self.close()
        return self._read(self._connect(deadline), deadline)

    def abort(self) -> None:
        """End the read that is under way, whatever it waits for."""
        with self._guard:
            self._aborted = True
            if self._socket is not None:
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    return  # it was closed by the other side already

    def close(self) -> None:
        """Throw the connection away; the next read makes a new one."""
        with self._guard:
            if self._socket is not None:
                self._socket.close()
                self._socket = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self, deadline: float) -> Connection:
        conninfo = self._conninfo(deadline)
        self.connects += 1
        try:
            connection: Connection = psycopg.connect(conninfo, prepare_threshold=None)
        except psycopg.Error as error:
            raise ReadError(problems.from_connecting(str(error))) from None
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

    def _read(self, connection: Connection, deadline: float) -> Snapshot:
        role = schema = ""
        try:
            with connection.transaction(), connection.cursor(binary=True) as cursor:
                facts = _facts(cursor, deadline)
                role, schema = facts["role"], facts["schema"]
                server = _server(facts, _identity(cursor, facts))
                problem = _unreadable(server)
                if problem is not None:
                    return Snapshot(up=True, problems=(problem,), server=server)
                version = columns.version_of(server.extension)
                query = columns.statements_query(version, schema, self._fields)
                found = cursor.execute(query.sql).fetchall()
                # Names after rows: a role made in between is known then.
                names = _names(cursor.execute(_NAMES).fetchall())
                evictions = _evictions(cursor, version, schema)
        except psycopg.Error as error:
            raise self._translated(error, role, schema) from None
        return Snapshot(
            up=True,
            problems=_standing_problems(server),
            server=server,
            statements=rows.statements(found, query.fields, names),
            evictions=evictions,
            entries=rows.entries(found),
        )

    def _translated(self, error: psycopg.Error, role: str, schema: str) -> ReadError:
        if self._aborted:
            return ReadError(problems.TIMEOUT)
        problem = problems.from_sqlstate(error.sqlstate, role=role, schema=schema)
        if problem is None and error.sqlstate is None:
            problem = problems.unreachable("the connection broke")
        if problem is None:
            problem = problems.failed(error.sqlstate or "", error.diag.message_primary)
        return ReadError(problem, up=problem.reason in problems.WHILE_UP)


def _facts(cursor: Cursor, deadline: float) -> dict[str, Any]:
    left = max(1, int(1000 * (deadline - time.monotonic())))
    row = cursor.execute(_FACTS, {"timeout": str(left)}).fetchone()
    names = [column.name for column in cursor.description or ()]
    return dict(zip(names, row or (), strict=True))


def _server(facts: dict[str, Any], identity: str | None) -> Server:
    collecting = None
    if facts["track"] is not None:
        collecting = facts["track"] != "none" and facts["compute_query_id"] != "off"
    return Server(
        version=facts["version"],
        extension=facts["extension"] or "",
        role=facts["role"],
        started=facts["started"],
        standby=facts["standby"],
        collecting=collecting,
        capacity=facts["capacity"],
        reads_all=facts["reads_all"],
        system_identifier=identity,
    )


def _identity(cursor: Cursor, facts: dict[str, Any]) -> str | None:
    row = cursor.execute(_IDENTITY).fetchone() if facts["reads_control"] else None
    return row[0] if row else None


def _unreadable(server: Server) -> Problem | None:
    if not server.extension:
        return problems.EXTENSION_MISSING
    if columns.version_of(server.extension) < columns.OLDEST:
        return problems.extension_too_old(server.extension)
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
