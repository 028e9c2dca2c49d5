"""Errors of the server and of libpq → a problem. Pure.

Nothing here repeats libpq's messages about a connection: they contain parts of the
connection string, and if that is escaped wrongly, parts of the password.
"""

from __future__ import annotations

import re

from ...values.missing import Refusal, Refused
from ...values.problems import (
    ENCODING,
    EXTENSION_MISSING,
    NOT_PRELOADED,
    TIMEOUT,
    TOO_MANY_CONNECTIONS,
    Problem,
    failed,
    permission_denied,
    rejected,
    unreachable,
)

# libpq gives no SQLSTATE of a login that failed, only a text. Its own messages are in
# English, the server's are in the language of its lc_messages: a severity, a colon and
# two spaces come first.
_FROM_SERVER = re.compile(r"\S+:  \S")
# English phrases of both, each with the phrase to show instead: they only add detail.
_TOO_MANY = ("too many clients", "too many connections", "remaining connection slots")
_REJECTED = (
    ("password authentication failed", "the password is wrong"),
    ("no password supplied", "a password is needed"),
    ("no pg_hba.conf entry", "pg_hba.conf has no entry that allows it"),
    ("pg_hba.conf rejects", "pg_hba.conf rejects it"),
    ("authentication failed", "authentication failed"),
    ("role ", "the role does not exist, or it may not log in"),
    ("no such user", "the pooler does not know the user"),
    ("no such database", "the pooler does not know the database"),
    ("permission denied for database", "the role may not CONNECT to the database"),
    ("database ", "the database does not exist, or it accepts no connections"),
    ("unsupported startup parameter", "a startup parameter is not supported"),
    ("certificate", "the certificate was not accepted"),
    ("SSL", "client and server could not agree on TLS"),
)
_UNREACHABLE = (
    ("Connection refused", "connection refused"),
    ("No such file or directory", "the socket does not exist"),
    ("resolve host", "the host name does not resolve"),
    ("Name or service not known", "the host name does not resolve"),
    ("No route to host", "no route to the host"),
    ("Network is unreachable", "the network is unreachable"),
    ("starting up", "the server is starting up"),
    ("shutting down", "the server is shutting down"),
    ("recovery mode", "the server is recovering"),
    ("closed the connection", "the server closed the connection"),
    ("Connection reset", "the connection was reset"),
)


# What PostgreSQL answers where it cannot convert a text: invalid bytes, no equivalent,
# no conversion between two encodings.
CONVERSION = frozenset({"22021", "22P05", "42883"})
_TIMEOUTS = frozenset({"57014", "55P03", "25P03", "25P04"})


def refused_with(sqlstate: str) -> Refused:
    """Why an optional question was not answered, by the code of the error."""
    if sqlstate == "42501":
        return Refused(Refusal.PERMISSION_DENIED, sqlstate)
    if sqlstate in _TIMEOUTS:
        return Refused(Refusal.TIMEOUT, sqlstate)
    # Not supported, or an object that is not there.
    if sqlstate == "0A000" or sqlstate in ("42P01", "42703", "42704", "42883"):
        return Refused(Refusal.NOT_SUPPORTED, sqlstate)
    return Refused(Refusal.FAILED, sqlstate)


def from_sqlstate(
    sqlstate: str,
    message: str | None = None,
    *,
    role: str = "",
    schema: str = "",
    extension: bool = False,
) -> Problem:
    """What an error of the server means, by its code.

    Codes: PostgreSQL documentation, appendix A.

    Args:
        extension: whether pg_stat_statements is known to be there.
    """
    match sqlstate:
        case "22021" | "22P05":
            return ENCODING
        case "42P01" | "42883" | "3F000" if not extension:
            return EXTENSION_MISSING
        case "55000":
            return NOT_PRELOADED
        case "42501":
            return permission_denied(role, schema)
        case _ if sqlstate in _TIMEOUTS:
            return TIMEOUT
        case "53300":
            return TOO_MANY_CONNECTIONS
        case "57P01" | "57P02" | "57P03" | "57P04" | "57P05":
            return unreachable("the server ended the connection")
        # Poolers use this class for all their errors, also for having no server.
        case _ if sqlstate.startswith("08"):
            return unreachable("the server or a pooler ended the connection")
        case _:
            return failed(sqlstate, message)


def from_connecting(text: str) -> Problem:
    """What the driver's message about a failed connection means; never its text."""
    if any(phrase in text for phrase in _TOO_MANY):
        return TOO_MANY_CONNECTIONS
    if "timeout" in text or "timed out" in text:
        return TIMEOUT
    for phrase, detail in _UNREACHABLE:
        if phrase in text:
            return unreachable(detail)
    for phrase, detail in _REJECTED:
        if phrase in text:
            return rejected(detail)
    if _FROM_SERVER.search(text):
        return rejected("the reason is in the server's log")
    return unreachable("the connection could not be made")
