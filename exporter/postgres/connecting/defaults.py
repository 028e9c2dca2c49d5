"""What each transaction sets for itself, whatever the role and the database set. Pure.

SET LOCAL, because a pooler gives the session to other clients afterwards. Not set is
what cannot change an answer: all values are read in binary form and all times as
seconds, so that DateStyle, IntervalStyle, TimeZone, bytea_output and extra_float_digits
have no effect, and errors are known by their SQLSTATE, whatever lc_messages is.
"""

from __future__ import annotations

from collections.abc import Mapping

# Otherwise any role that may CREATE in a schema on the search path could define an
# operator that these queries would call, with the privileges of the exporter's role;
# and a temporary table of the session could take the place of a view.
_SEARCH_PATH = "pg_catalog, pg_temp"
# SERIALIZABLE is an error on a standby, and with DEFERRABLE it waits for writers.
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY NOT DEFERRABLE"
# Until the limits of this transaction are set, those of the session do not hold.
_AT_FIRST = "5min"
BEGIN = (
    f"{_BEGIN}; SET LOCAL search_path = {_SEARCH_PATH}; "
    f"SET LOCAL statement_timeout = '{_AT_FIRST}'; "
    f"SET LOCAL idle_in_transaction_session_timeout = '{_AT_FIRST}'"
)
# In milliseconds after the deadline: the exporter's own watchdog comes first.
_AFTER_DEADLINE = 1000
# With parameters: as constants, each time limit would be an entry of its own in
# pg_stat_statements.
SET = (
    "SELECT set_config(name, value, true) "
    "FROM unnest(%(names)s::text[], %(values)s::text[]) AS wanted (name, value) "
    "WHERE current_setting(name, true) IS NOT NULL"
)
# Each is set where the server has it.
_WHERE_OFFERED: Mapping[str, str] = {
    # PostgreSQL materialises all rows before it sends the first. 50,000 take 20 MB
    # without texts; in a temporary file they would count as temporary bytes of the
    # database.
    "work_mem": "32MB",
    # A role whose jit_above_cost is 0 would have each of these queries compiled.
    "jit": "off",
    # Statements to be explained are split by a parser that has it on: with off, a
    # string could end earlier than the parser believes, and the rest be executed.
    "standard_conforming_strings": "on",
    # Sort keys and group keys are part of a plan's identity.
    "quote_all_identifiers": "off",
    # With off, reading a table that has policies is an error.
    "row_security": "on",
    # Only 0 has an effect in a transaction that has begun.
    "transaction_timeout": "0",
}


def settings(seconds: float) -> dict[str, str]:
    """What a transaction that may take so many *seconds* sets."""
    limit = milliseconds(seconds)
    return {
        **_WHERE_OFFERED,
        **limits(statement=seconds, lock=seconds),
        # Ends what a broken connection has left behind.
        "idle_in_transaction_session_timeout": str(limit + _AFTER_DEADLINE),
    }


def limits(*, statement: float, lock: float) -> dict[str, str]:
    """Seconds for each statement, and for waiting for each lock."""
    return {
        "statement_timeout": str(milliseconds(statement)),
        "lock_timeout": str(milliseconds(lock)),
    }


def milliseconds(seconds: float) -> int:
    """At least 1, because 0 means no limit."""
    return max(1, int(1000 * seconds))


def parameters(wanted: Mapping[str, str]) -> dict[str, list[str]]:
    """Parameters of SET."""
    return {"names": list(wanted), "values": list(wanted.values())}
