"""Server-wide numbers that distinguish an outside cause from a deploy. Pure.

One table says how each is read, and which columns that takes. Where a metric occurs
twice, its view was renamed: the first that is there is read. Everything else about a
server is left to a general exporter.
"""

from __future__ import annotations

from typing import Literal

from ..values.context import ContextMetric
from .measures import Measure

_CLIENTS = "pg_stat_activity WHERE backend_type = 'client backend'"


def _measure(
    name: str,
    kind: Literal["counter", "gauge"],
    description: str,
    sql: str,
    *needs: str,
    label: str = "",
    of_all_roles: bool = False,
) -> Measure:
    metric = ContextMetric(name, kind, description, label)
    return Measure(name, sql, needs, of_all_roles, metric)


def _by_database(name: str, description: str, column: str) -> Measure:
    return _measure(
        name,
        "counter",
        f"{description} Source: pg_stat_database.{column}.",
        f"SELECT datname::text, {column}::float8 FROM pg_stat_database "  # noqa: S608
        "WHERE datname IS NOT NULL",
        f"pg_stat_database.{column}",
        label="datname",
    )


CONTEXT = (
    _measure(
        "pg_checkpoints_total",
        "counter",
        "Checkpoints by cause. Source: pg_stat_checkpointer.",
        "SELECT 'timed', num_timed::float8 FROM pg_stat_checkpointer "
        "UNION ALL SELECT 'requested', num_requested FROM pg_stat_checkpointer",
        "pg_stat_checkpointer.num_timed",
        "pg_stat_checkpointer.num_requested",
        label="cause",
    ),
    _measure(
        "pg_checkpoints_total",
        "counter",
        "Checkpoints by cause. Source: pg_stat_bgwriter.",
        "SELECT 'timed', checkpoints_timed::float8 FROM pg_stat_bgwriter "
        "UNION ALL SELECT 'requested', checkpoints_req FROM pg_stat_bgwriter",
        "pg_stat_bgwriter.checkpoints_timed",
        "pg_stat_bgwriter.checkpoints_req",
        label="cause",
    ),
    _measure(
        "pg_checkpoint_write_seconds_total",
        "counter",
        "Time spent writing in checkpoints, in seconds. Source: write_time.",
        "SELECT NULL, write_time / 1000 FROM pg_stat_checkpointer",
        "pg_stat_checkpointer.write_time",
    ),
    _measure(
        "pg_checkpoint_write_seconds_total",
        "counter",
        "Time spent writing in checkpoints, in seconds. Source: checkpoint_write_time.",
        "SELECT NULL, checkpoint_write_time / 1000 FROM pg_stat_bgwriter",
        "pg_stat_bgwriter.checkpoint_write_time",
    ),
    _by_database("pg_database_blocks_read_total", "Blocks read.", "blks_read"),
    _by_database(
        "pg_database_blocks_hit_total", "Blocks found in the cache.", "blks_hit"
    ),
    _by_database(
        "pg_database_temp_bytes_total",
        "Bytes written to temporary files.",
        "temp_bytes",
    ),
    _measure(
        "pg_connections",
        "gauge",
        "Client connections by state. Source: pg_stat_activity.state.",
        f"SELECT coalesce(state, 'unknown'), count(*) FROM {_CLIENTS} GROUP BY 1",  # noqa: S608
        "pg_stat_activity.state",
        "pg_stat_activity.backend_type",
        label="state",
        of_all_roles=True,
    ),
    _measure(
        "pg_connections_waiting_for_lock",
        "gauge",
        "Client connections that wait for a lock. Source: pg_stat_activity.",
        f"SELECT NULL, count(*) FROM {_CLIENTS} AND wait_event_type = 'Lock'",  # noqa: S608
        "pg_stat_activity.wait_event_type",
        "pg_stat_activity.backend_type",
        of_all_roles=True,
    ),
    _measure(
        "pg_vacuums_running",
        "gauge",
        "Vacuums in progress, started by autovacuum (auto) or by a client "
        "(manual). Source: pg_stat_progress_vacuum.",
        "SELECT k.kind, count(p.pid) FROM (VALUES ('auto'), ('manual')) AS k (kind) "
        "LEFT JOIN (SELECT v.pid, CASE a.backend_type WHEN 'autovacuum worker' "
        "THEN 'auto' ELSE 'manual' END AS kind FROM pg_stat_progress_vacuum v "
        "JOIN pg_stat_activity a USING (pid)) AS p USING (kind) GROUP BY 1",
        "pg_stat_progress_vacuum.pid",
        "pg_stat_activity.backend_type",
        label="kind",
        of_all_roles=True,
    ),
    _measure(
        "pg_wal_bytes_total",
        "counter",
        "WAL generated, in bytes. Source: pg_stat_wal.wal_bytes.",
        "SELECT NULL, wal_bytes::float8 FROM pg_stat_wal",
        "pg_stat_wal.wal_bytes",
    ),
    _measure(
        "pg_replication_lag_seconds",
        "gauge",
        "On a standby, the age of the last replayed transaction, in seconds; 0 if "
        "everything received has been replayed.",
        "SELECT NULL, CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() "
        "THEN 0 ELSE extract(epoch FROM now() - pg_last_xact_replay_timestamp()) END "
        "WHERE pg_is_in_recovery() AND pg_last_xact_replay_timestamp() IS NOT NULL",
    ),
    _measure(
        "pg_replication_replay_lag_bytes",
        "gauge",
        "On a primary, WAL that a standby has not replayed yet, in bytes; the "
        "largest lag of those that share a name. Source: pg_stat_replication.",
        "SELECT application_name, max(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() "
        "THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, replay_lsn)) "
        "FROM pg_stat_replication WHERE replay_lsn IS NOT NULL GROUP BY 1",
        "pg_stat_replication.replay_lsn",
        label="application_name",
        of_all_roles=True,
    ),
)
