"""Optional measures: what each takes, and one query for all of them. Pure.

A measure that the server refuses costs only itself, so everything here is asked apart
from the statements, see :mod:`reading`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ..values.context import ContextMetric
from ..values.quoting import quoted

# Of one measure: values of its label, NULL without one, and the numbers.
Answer = list[tuple[str | None, float | None]]

STARTED = "pg_postmaster_start_time_seconds"
STANDBY = "pg_in_recovery"
CAPACITY = "pg_stat_statements_max_entries"
COLLECTING = "pg_stat_statements_collecting"
READS_ALL = "pg_read_all_stats"
IDENTITY = "pg_server_info"
DEALLOCATIONS = "pg_stat_statements_info_dealloc_total"
RESET = "pg_stat_statements_info_stats_reset_seconds"


@dataclass(frozen=True, slots=True)
class Measure:
    """Numbers about the server.

    Args:
        name: of the metric that shows them.
        sql: rows of a label's value (NULL without a label) and the number.
        needs: the columns that it takes, as ``view.column``.
        of_all_roles: whether it is wrong, not refused, for a role that may not see the
            statistics of others.
        metric: how it is shown; None if it has a place of its own in a snapshot.
    """

    name: str
    sql: str
    needs: tuple[str, ...] = ()
    of_all_roles: bool = False
    metric: ContextMetric | None = None

    def offered(self, columns: Collection[str]) -> bool:
        """Whether a server with these columns has it."""
        return all(column in columns for column in self.needs)


# Where a setting's value comes from when it holds for the exporter's session only: many
# set pg_stat_statements.track = none for its role, to hide its own statements.
_OWN_SOURCES = "('database', 'user', 'database user', 'client', 'session')"


def server_measures(schema: str) -> tuple[Measure, ...]:
    """What is asked of every server; *schema* is that of pg_stat_statements."""
    info = f"FROM {quoted(schema)}.pg_stat_statements_info"
    return (
        Measure(STARTED, "SELECT NULL, date_part('epoch', pg_postmaster_start_time())"),
        Measure(STANDBY, "SELECT NULL, pg_is_in_recovery()::int"),
        Measure(
            CAPACITY, "SELECT NULL, current_setting('pg_stat_statements.max', true)"
        ),
        Measure(
            COLLECTING,
            "SELECT NULL, CASE WHEN bool_or(name = 'pg_stat_statements.track') "  # noqa: S608
            f"AND NOT bool_or(source IN {_OWN_SOURCES}) "
            "THEN bool_and(setting NOT IN ('none', 'off'))::int END "
            "FROM pg_settings "
            "WHERE name IN ('pg_stat_statements.track', 'compute_query_id')",
        ),
        Measure(
            READS_ALL, "SELECT NULL, pg_has_role('pg_read_all_stats', 'USAGE')::int"
        ),
        Measure(IDENTITY, "SELECT system_identifier::text, 0 FROM pg_control_system()"),
        Measure(
            DEALLOCATIONS,
            f"SELECT NULL, dealloc {info}",
            ("pg_stat_statements_info.dealloc",),
        ),
        Measure(
            RESET,
            f"SELECT NULL, date_part('epoch', stats_reset) {info}",
            ("pg_stat_statements_info.stats_reset",),
        ),
    )


def views_of(measures: Iterable[Measure]) -> set[str]:
    """The views whose columns decide what is offered."""
    return {column.split(".")[0] for measure in measures for column in measure.needs}


def measures_query(measures: Sequence[Measure]) -> str:
    """SQL for rows of the measure's place in *measures*, the label and the number."""
    return " UNION ALL ".join(
        f"SELECT {place}::int4, label::text, value::float8 "  # noqa: S608
        f"FROM ({measure.sql}) AS part (label, value)"
        for place, measure in enumerate(measures)
    )
