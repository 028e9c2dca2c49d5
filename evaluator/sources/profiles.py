"""What the series are called: the only place that knows an exporter's names (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..model import QueryKey


@dataclass(frozen=True, slots=True)
class Profile:
    """Names of metrics and of labels that one exporter writes.

    A metric that the exporter does not have is empty; only the first two are needed.

    Args:
        calls, seconds: counters of executions and of execution time.
        since: gauge with the time at which the entry was made, Unix seconds.
        squares: counter of the squares of the execution times, square seconds or the
            square of whatever unit the times have.
        rows: counter of rows returned or changed.
        blocks_hit, blocks_read: counters of shared blocks found in the cache, and not.
        started: gauge with the time at which the server started, Unix seconds.
        recovery: gauge, 1 on a standby and 0 on a primary.
        server_info: always 1, with the label ``system_identifier`` of the cluster.
        query_info: always 1, with the labels ``fingerprint`` and ``query`` of the
            statement, the latter its text.
        plan_info: always 1, with the labels ``plan_id`` and ``plan`` of the plan.
        instance: label with the server, or several that name it together, the address
            last.
        database, user, queryid, toplevel: labels; one that the exporter does not write
            reads as empty.
        seconds_per_unit: 0.001 for a counter in milliseconds.
    """

    calls: str
    seconds: str
    since: str = ""
    squares: str = ""
    rows: str = ""
    blocks_hit: str = ""
    blocks_read: str = ""
    started: str = ""
    recovery: str = ""
    server_info: str = ""
    query_info: str = ""
    plan_info: str = ""
    instance: str | tuple[str, ...] = "instance"
    database: str = "datname"
    user: str = "user"
    queryid: str = "queryid"
    toplevel: str = "toplevel"
    fingerprint: str = "fingerprint"
    query: str = "query"
    plan_id: str = "plan_id"
    plan: str = "plan"
    system_identifier: str = "system_identifier"
    seconds_per_unit: float = 1.0

    @property
    def counters(self) -> tuple[str, ...]:
        """The metrics without which nothing can be judged."""
        return self.calls, self.seconds

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that a judgement rests on."""
        names = *self.counters, self.since, self.squares
        return tuple(name for name in names if name)

    @property
    def details(self) -> tuple[str, ...]:
        """The counters that may explain a judgement."""
        names = self.rows, self.blocks_hit, self.blocks_read
        return tuple(name for name in names if name)

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """Every metric that can be read."""
        others = *self.identity, self.query_info, self.plan_info
        return (*self.metrics, *self.details, *(name for name in others if name))

    @property
    def identity(self) -> tuple[str, ...]:
        """The metrics that change when another server answers."""
        names = self.started, self.recovery, self.server_info
        return tuple(name for name in names if name)

    @property
    def server_labels(self) -> tuple[str, ...]:
        """The labels that name a server together."""
        return (self.instance,) if isinstance(self.instance, str) else self.instance

    def server(self, labels: Mapping[str, str]) -> str:
        """The server that a series with *labels* tells about, as a text.

        Of several labels the values are joined by ``/``.
        """
        values = [labels.get(label, "") for label in self.server_labels]
        if len(values) == 1:
            return values[0]
        return "/".join(re.sub(r"[/\\]", r"\\\g<0>", value) for value in values)

    def server_values(self, server: str) -> tuple[str, ...]:
        """The values of the labels that name *server*; see :meth:`server`."""
        if len(self.server_labels) == 1:
            return (server,)
        parts = re.findall(r"((?:[^/\\]|\\.)*)(?:/|$)", server)
        return tuple(
            re.sub(r"\\(.)", r"\1", part) for part in parts[: len(self.server_labels)]
        )

    def key(self, labels: Mapping[str, str]) -> QueryKey:
        """The query that a series with *labels* tells about."""
        return QueryKey(
            instance=labels.get(self.instance, "")
            if isinstance(self.instance, str)
            else self.server(labels),
            database=labels.get(self.database, ""),
            user=labels.get(self.user, ""),
            queryid=labels.get(self.queryid, ""),
            toplevel=labels.get(self.toplevel, ""),
        )


PROFILES: Mapping[str, Profile] = {
    "pgverdict": Profile(
        calls="pg_stat_statements_calls_total",
        seconds="pg_stat_statements_seconds_total",
        since="pg_stat_statements_stats_since_seconds",
        squares="pg_stat_statements_seconds_squared_total",
        rows="pg_stat_statements_rows_total",
        blocks_hit="pg_stat_statements_shared_blocks_hit_total",
        blocks_read="pg_stat_statements_shared_blocks_read_total",
        started="pg_postmaster_start_time_seconds",
        recovery="pg_in_recovery",
        server_info="pg_server_info",
        query_info="pg_stat_statements_query_info",
        plan_info="pg_stat_statements_plan_info",
    ),
    # Its stat_statements, postmaster and replication collectors; they write neither
    # toplevel nor stats_since, and no blocks.
    "postgres_exporter": Profile(
        calls="pg_stat_statements_calls_total",
        seconds="pg_stat_statements_seconds_total",
        rows="pg_stat_statements_rows_total",
        started="pg_postmaster_start_time_seconds",
        recovery="pg_replication_is_replica",
    ),
}
