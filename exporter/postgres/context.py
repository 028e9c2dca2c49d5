"""Server-wide numbers that distinguish an outside cause from a deploy. Pure.

One table says what is read from which version of the server; one query reads it all.
Everything else about a server is left to a general exporter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

from ..values.context import ContextMetric, ContextRow

OLDEST = 14
_CLIENTS = "pg_stat_activity WHERE backend_type = 'client backend'"

# Place in SOURCES, value of the label, the number.
AnswerRow = tuple[int, str | None, float]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the numbers of one metric come from.

    Args:
        sql: rows of the label's value (NULL without a label) and the number; any role
            may read them.
        since, until: first major version that has it, first that no longer has it.
    """

    metric: ContextMetric
    sql: str
    since: int = OLDEST
    until: int | None = None

    def offered(self, major: int) -> bool:
        """Whether a server of this major version has it."""
        return self.since <= major and (self.until is None or major < self.until)


def _by_database(column: str) -> str:
    return (
        f"SELECT datname::text, {column}::float8 FROM pg_stat_database "  # noqa: S608
        "WHERE datname IS NOT NULL"
    )


SOURCES = (
    Source(
        ContextMetric(
            "pg_checkpoints_total",
            "counter",
            "Checkpoints by cause. Source: pg_stat_checkpointer.",
            "cause",
        ),
        "SELECT 'timed', num_timed::float8 FROM pg_stat_checkpointer "
        "UNION ALL SELECT 'requested', num_requested FROM pg_stat_checkpointer",
        since=17,
    ),
    Source(
        ContextMetric(
            "pg_checkpoints_total",
            "counter",
            "Checkpoints by cause. Source: pg_stat_bgwriter.",
            "cause",
        ),
        "SELECT 'timed', checkpoints_timed::float8 FROM pg_stat_bgwriter "
        "UNION ALL SELECT 'requested', checkpoints_req FROM pg_stat_bgwriter",
        until=17,
    ),
    Source(
        ContextMetric(
            "pg_checkpoint_write_seconds_total",
            "counter",
            "Time spent writing in checkpoints, in seconds. Source: write_time.",
        ),
        "SELECT NULL, write_time / 1000 FROM pg_stat_checkpointer",
        since=17,
    ),
    Source(
        ContextMetric(
            "pg_checkpoint_write_seconds_total",
            "counter",
            "Time spent writing in checkpoints, in seconds. "
            "Source: checkpoint_write_time.",
        ),
        "SELECT NULL, checkpoint_write_time / 1000 FROM pg_stat_bgwriter",
        until=17,
    ),
    Source(
        ContextMetric(
            "pg_database_blocks_read_total",
            "counter",
            "Blocks read. Source: pg_stat_database.blks_read.",
            "datname",
        ),
        _by_database("blks_read"),
    ),
    Source(
        ContextMetric(
            "pg_database_blocks_hit_total",
            "counter",
            "Blocks found in the cache. Source: pg_stat_database.blks_hit.",
            "datname",
        ),
        _by_database("blks_hit"),
    ),
    Source(
        ContextMetric(
            "pg_database_temp_bytes_total",
            "counter",
            "Bytes written to temporary files. Source: pg_stat_database.temp_bytes.",
            "datname",
        ),
        _by_database("temp_bytes"),
    ),
    Source(
        ContextMetric(
            "pg_connections",
            "gauge",
            "Client connections by state. Source: pg_stat_activity.state.",
            "state",
        ),
        f"SELECT coalesce(state, 'unknown'), count(*) FROM {_CLIENTS} GROUP BY 1",  # noqa: S608
    ),
    Source(
        ContextMetric(
            "pg_connections_waiting_for_lock",
            "gauge",
            "Client connections that wait for a lock. Source: pg_stat_activity.",
        ),
        f"SELECT NULL, count(*) FROM {_CLIENTS} AND wait_event_type = 'Lock'",  # noqa: S608
    ),
    Source(
        ContextMetric(
            "pg_vacuums_running",
            "gauge",
            "Vacuums in progress, started by autovacuum (auto) or by a client "
            "(manual). Source: pg_stat_progress_vacuum.",
            "kind",
        ),
        "SELECT k.kind, count(p.pid) FROM (VALUES ('auto'), ('manual')) AS k (kind) "
        "LEFT JOIN (SELECT v.pid, CASE a.backend_type WHEN 'autovacuum worker' "
        "THEN 'auto' ELSE 'manual' END AS kind FROM pg_stat_progress_vacuum v "
        "JOIN pg_stat_activity a USING (pid)) AS p USING (kind) GROUP BY 1",
    ),
    Source(
        ContextMetric(
            "pg_wal_bytes_total",
            "counter",
            "WAL generated, in bytes. Source: pg_stat_wal.wal_bytes.",
        ),
        "SELECT NULL, wal_bytes::float8 FROM pg_stat_wal",
    ),
    Source(
        ContextMetric(
            "pg_replication_lag_seconds",
            "gauge",
            "On a standby, the age of the last replayed transaction, in seconds; 0 if "
            "everything received has been replayed.",
        ),
        "SELECT NULL, CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() "
        "THEN 0 ELSE extract(epoch FROM now() - pg_last_xact_replay_timestamp()) END "
        "WHERE pg_is_in_recovery() AND pg_last_xact_replay_timestamp() IS NOT NULL",
    ),
    Source(
        ContextMetric(
            "pg_replication_replay_lag_bytes",
            "gauge",
            "On a primary, WAL that a standby has not replayed yet, in bytes; the "
            "largest lag of those that share a name. Source: pg_stat_replication.",
            "application_name",
        ),
        "SELECT application_name, max(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() "
        "THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, replay_lsn)) "
        "FROM pg_stat_replication WHERE replay_lsn IS NOT NULL GROUP BY 1",
    ),
)


def context_query(major: int) -> str | None:
    """SQL for the rows of all sources that a server of this major version has."""
    parts = [
        f"SELECT {place}::int4, label::text, value::float8 "  # noqa: S608
        f"FROM ({source.sql}) AS part (label, value)"
        for place, source in enumerate(SOURCES)
        if source.offered(major)
    ]
    return " UNION ALL ".join(parts) or None


def context_rows(answer: Iterable[AnswerRow]) -> list[ContextRow]:
    """Rows of :func:`context_query` in the order of SOURCES."""
    in_order = sorted(answer, key=itemgetter(0))
    return [
        ContextRow(SOURCES[place].metric, label_value, value)
        for place, label_value, value in in_order
    ]
