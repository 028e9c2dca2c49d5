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
# In seconds after the deadline: the exporter's own watchdog comes first.
_AFTER_DEADLINE = 1.0
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


def begin(seconds: float, *, everything: bool = True) -> str:
    """SQL that begins a read-only transaction which may take so many *seconds*.

    Args:
        everything: also what only some servers have or permit.
    """
    limit = max(1, int(1000 * seconds))
    # Ends what a broken connection has left behind.
    idle = limit + int(1000 * _AFTER_DEADLINE)
    parts = [
        _BEGIN,
        f"SET LOCAL statement_timeout = {limit}",
        f"SET LOCAL idle_in_transaction_session_timeout = {idle}",
        f"SET LOCAL search_path = {_SEARCH_PATH}",
        f"SET LOCAL lock_timeout = {limit}",
    ]
    if everything:
        settings = _WHERE_OFFERED.items()
        values = ", ".join(f"('{name}', '{value}')" for name, value in settings)
        parts.append(
            f"SELECT set_config(name, value, true) FROM (VALUES {values}) "  # noqa: S608
            "AS wanted (name, value) WHERE current_setting(name, true) IS NOT NULL"
        )
    return "; ".join(parts)
