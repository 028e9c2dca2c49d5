"""What can be wrong with a server: a reason, a message and a remedy. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from .missing import MissingMeasure, Refusal
from .quoting import quoted


class Reason(StrEnum):
    """Values of the label ``reason`` of pgverdict_exporter_problem."""

    CONFIGURATION = "configuration"
    UNREACHABLE = "unreachable"
    REJECTED = "rejected"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    TIMEOUT = "timeout"
    EXTENSION_MISSING = "extension_missing"
    EXTENSION_TOO_OLD = "extension_too_old"
    NOT_PRELOADED = "not_preloaded"
    PERMISSION_DENIED = "permission_denied"
    PRIVILEGE_MISSING = "privilege_missing"
    NOT_COLLECTING = "not_collecting"
    CONTEXT_MISSING = "context_missing"
    MEASURES_MISSING = "measures_missing"
    ENCODING = "encoding"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that a person must fix.

    Args:
        message: what is wrong, one sentence.
        remedy: SQL or an action that fixes it.
    """

    reason: Reason
    message: str
    remedy: str = ""


# With these the server did answer, so pg_up is 1.
WHILE_UP = frozenset(
    {
        Reason.EXTENSION_MISSING,
        Reason.EXTENSION_TOO_OLD,
        Reason.NOT_PRELOADED,
        Reason.PERMISSION_DENIED,
        Reason.PRIVILEGE_MISSING,
        Reason.NOT_COLLECTING,
        Reason.CONTEXT_MISSING,
        Reason.MEASURES_MISSING,
        Reason.ENCODING,
        Reason.FAILED,
    }
)

DSN_UNREADABLE = Problem(
    Reason.CONFIGURATION,
    "the file with the connection string cannot be read",
    "make it a text file that the exporter may read",
)
DSN_MALFORMED = Problem(
    Reason.CONFIGURATION,
    "the connection string is malformed",
    "write postgresql://user@host:5432/database or host=… user=… dbname=…",
)
EXTENSION_MISSING = Problem(
    Reason.EXTENSION_MISSING,
    "the database that the exporter uses does not have the extension "
    "pg_stat_statements",
    "CREATE EXTENSION pg_stat_statements;",
)
NOT_PRELOADED = Problem(
    Reason.NOT_PRELOADED,
    "pg_stat_statements is not loaded into the server",
    "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'; "
    "then restart PostgreSQL (keep the libraries that are already in the list)",
)
NOT_COLLECTING = Problem(
    Reason.NOT_COLLECTING,
    "the server does not count executions: pg_stat_statements.track is none or "
    "compute_query_id is off",
    "ALTER SYSTEM SET pg_stat_statements.track = 'top'; "
    "ALTER SYSTEM SET compute_query_id = 'auto'; SELECT pg_reload_conf();",
)
ENCODING = Problem(
    Reason.ENCODING,
    "the server cannot convert the text of a statement to the encoding of the database "
    "that the exporter uses",
    "CREATE EXTENSION pg_stat_statements; in a database whose encoding is SQL_ASCII, "
    "or UTF8 if all others are convertible; the exporter then reads the texts there",
)
TOO_MANY_CONNECTIONS = Problem(
    Reason.TOO_MANY_CONNECTIONS,
    "PostgreSQL has no connection left for the exporter",
    "raise max_connections, or close idle ones; "
    "from 16 on GRANT pg_use_reserved_connections to the role",
)
TIMEOUT = Problem(
    Reason.TIMEOUT,
    "PostgreSQL did not answer within the time of the scrape",
    "look for a frozen server, a network that drops packets or a lock; "
    "or give the scrape more time",
)


def measures_missing(
    reason: Reason, missing: Collection[MissingMeasure], role: str
) -> Problem:
    """The server refused optional measures; everything else was read.

    Args:
        reason: CONTEXT_MISSING for those that --context.enabled=false switches off,
            else MEASURES_MISSING.
    """
    remedies = []
    refusals = {measure.why.refusal for measure in missing}
    if Refusal.PERMISSION_DENIED in refusals:
        remedies.append(f"GRANT pg_monitor TO {quoted(role)};")
    if Refusal.TIMEOUT in refusals:
        remedies.append("look for a lock, or give the scrape more time;")
    if refusals - {Refusal.PERMISSION_DENIED, Refusal.TIMEOUT}:
        remedies.append("see the server's log for its message;")
    if reason is Reason.CONTEXT_MISSING:
        remedies.append("or set --context.enabled=false")
    names = ", ".join(map(str, missing))
    return Problem(reason, f"PostgreSQL refuses {names}", " ".join(remedies))


def extension_too_old(version: str) -> Problem:
    """The extension has no layout that the exporter knows."""
    return Problem(
        Reason.EXTENSION_TOO_OLD,
        f"pg_stat_statements {version} lacks columns that every version since 1.4 has",
        "ALTER EXTENSION pg_stat_statements UPDATE;",
    )


def privilege_missing(role: str) -> Problem:
    """The role sees that other roles ran statements, but not which."""
    return Problem(
        Reason.PRIVILEGE_MISSING,
        "the role may not see the statements of other roles",
        f"GRANT pg_read_all_stats TO {quoted(role)}; "
        f"ALTER ROLE {quoted(role)} INHERIT;",
    )


def permission_denied(role: str, schema: str) -> Problem:
    """The role may not use the extension's schema or functions at all."""
    to_role, in_schema = quoted(role), quoted(schema)
    return Problem(
        Reason.PERMISSION_DENIED,
        "the role may not read pg_stat_statements",
        f"GRANT USAGE ON SCHEMA {in_schema} TO {to_role}; "
        f"GRANT EXECUTE ON FUNCTION {in_schema}.pg_stat_statements(boolean) "
        f"TO {to_role}; "
        f"GRANT SELECT ON {in_schema}.pg_stat_statements_info TO {to_role};",
    )


def failed(sqlstate: str, message: str | None) -> Problem:
    """Any other error from the server."""
    return Problem(
        Reason.FAILED,
        f"PostgreSQL answered with an error: {message or 'no message'} ({sqlstate})",
        "see the server's log",
    )


def unreachable(detail: str) -> Problem:
    """There is no connection, or it broke; *detail* is a phrase of this program."""
    return Problem(
        Reason.UNREACHABLE,
        f"PostgreSQL could not be reached: {detail}",
        "start it, or correct host and port; the exporter tries again at every scrape",
    )


def rejected(detail: str) -> Problem:
    """The server refused the login; *detail* is a phrase of this program."""
    return Problem(
        Reason.REJECTED,
        f"PostgreSQL refused the login: {detail}",
        "correct role, password, database or pg_hba.conf",
    )
