"""The few server-wide series that tell an outside cause from a deploy. Pure.

One table says what is asked of which server, from it comes one query. Everything else
about a server is for a general exporter to tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .exposition import Family
from .labels import labels

OLDEST = 14
_CLIENTS = "pg_stat_activity WHERE backend_type = 'client backend'"


@dataclass(frozen=True, slots=True)
class Metric:
    """One family and where it comes from.

    Args:
        label: name of its label; empty without.
        sql: rows of the label's value and the number; read by any role.
        since, until: first major version that has it, first that has it no more.
    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    label: str
    sql: str
    since: int = OLDEST
    until: int | None = None

    def offered(self, major: int) -> bool:
        """Whether a server of *major* version has it."""
        return self.since <= major and (self.until is None or major < self.until)


def _by_database(column: str) -> str:
    return (
        f"SELECT datname::text, {column}::float8 FROM pg_stat_database "  # noqa: S608
        "WHERE datname IS NOT NULL"
    )


METRICS = (
    Metric(
        "pg_checkpoints_total",
        "counter",
        "Checkpoints by what caused them. Source: pg_stat_checkpointer.",
        "cause",
        "SELECT 'timed', num_timed::float8 FROM pg_stat_checkpointer "
        "UNION ALL SELECT 'requested', num_requested FROM pg_stat_checkpointer",
        since=17,
    ),
    Metric(
        "pg_checkpoints_total",
        "counter",
        "Checkpoints by what caused them. Source: pg_stat_bgwriter.",
        "cause",
        "SELECT 'timed', checkpoints_timed::float8 FROM pg_stat_bgwriter "
        "UNION ALL SELECT 'requested', checkpoints_req FROM pg_stat_bgwriter",
        until=17,
    ),
    Metric(
        "pg_checkpoint_write_seconds_total",
        "counter",
        "Time spent writing in checkpoints, in seconds. Source: write_time.",
        "",
        "SELECT NULL, write_time / 1000 FROM pg_stat_checkpointer",
        since=17,
    ),
    Metric(
        "pg_checkpoint_write_seconds_total",
        "counter",
        "Time spent writing in checkpoints, in seconds. Source: checkpoint_write_time.",
        "",
        "SELECT NULL, checkpoint_write_time / 1000 FROM pg_stat_bgwriter",
        until=17,
    ),
    Metric(
        "pg_database_blocks_read_total",
        "counter",
        "Blocks read. Source: pg_stat_database.blks_read.",
        "datname",
        _by_database("blks_read"),
    ),
    Metric(
        "pg_database_blocks_hit_total",
        "counter",
        "Blocks found in the cache. Source: pg_stat_database.blks_hit.",
        "datname",
        _by_database("blks_hit"),
    ),
    Metric(
        "pg_database_temp_bytes_total",
        "counter",
        "Bytes written to temporary files. Source: pg_stat_database.temp_bytes.",
        "datname",
        _by_database("temp_bytes"),
    ),
    Metric(
        "pg_connections",
        "gauge",
        "Client connections by what they do. Source: pg_stat_activity.state.",
        "state",
        f"SELECT coalesce(state, 'unknown'), count(*) FROM {_CLIENTS} GROUP BY 1",  # noqa: S608
    ),
    Metric(
        "pg_connections_waiting_for_lock",
        "gauge",
        "Client connections that wait for a lock. Source: pg_stat_activity.",
        "",
        f"SELECT NULL, count(*) FROM {_CLIENTS} AND wait_event_type = 'Lock'",  # noqa: S608
    ),
    Metric(
        "pg_vacuums_running",
        "gauge",
        "Vacuums under way, by who began them. Source: pg_stat_progress_vacuum.",
        "kind",
        "SELECT k.kind, count(p.pid) FROM (VALUES ('auto'), ('manual')) AS k (kind) "
        "LEFT JOIN (SELECT v.pid, CASE a.backend_type WHEN 'autovacuum worker' "
        "THEN 'auto' ELSE 'manual' END AS kind FROM pg_stat_progress_vacuum v "
        "JOIN pg_stat_activity a USING (pid)) AS p USING (kind) GROUP BY 1",
    ),
    Metric(
        "pg_wal_bytes_total",
        "counter",
        "WAL generated, in bytes. Source: pg_stat_wal.wal_bytes.",
        "",
        "SELECT NULL, wal_bytes::float8 FROM pg_stat_wal",
    ),
    Metric(
        "pg_replication_lag_seconds",
        "gauge",
        "On a standby, how old the last replayed transaction is, in seconds; 0 when "
        "everything received is replayed.",
        "",
        "SELECT NULL, CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() "
        "THEN 0 ELSE extract(epoch FROM now() - pg_last_xact_replay_timestamp()) END "
        "WHERE pg_is_in_recovery() AND pg_last_xact_replay_timestamp() IS NOT NULL",
    ),
    Metric(
        "pg_replication_replay_lag_bytes",
        "gauge",
        "On a primary, WAL that a standby has not replayed yet, in bytes; the most of "
        "those with one name. Source: pg_stat_replication.",
        "application_name",
        "SELECT application_name, max(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() "
        "THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, replay_lsn)) "
        "FROM pg_stat_replication WHERE replay_lsn IS NOT NULL GROUP BY 1",
    ),
)


def context_query(major: int) -> str | None:
    """Rows of a metric's place in METRICS, its label's value and the number."""
    parts = [
        f"SELECT {place}::int4, label::text, value::float8 "  # noqa: S608
        f"FROM ({metric.sql}) AS part (label, value)"
        for place, metric in enumerate(METRICS)
        if metric.offered(major)
    ]
    return " UNION ALL ".join(parts) or None


def context_families(rows: Iterable[Sequence[Any]]) -> list[Family]:
    """Families out of the rows, in the order of METRICS; without rows none."""
    found: dict[int, list[tuple[str, float]]] = {}
    for place, value_of_label, number in rows:
        metric = METRICS[place]
        pairs = [(metric.label, value_of_label)] if metric.label else []
        found.setdefault(place, []).append((labels(*pairs), number))
    return [
        Family(
            METRICS[place].name,
            METRICS[place].kind,
            METRICS[place].help,
            [which for which, _ in samples],
            [number for _, number in samples],
        )
        for place, samples in sorted(found.items())
    ]
