"""What the series are called: the only place that knows an exporter's names (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..model import QueryKey


@dataclass(frozen=True, slots=True)
class Profile:
    """Names of metrics and of labels that one exporter writes.

    Args:
        calls, seconds: counters of executions and of execution time.
        since: gauge with the time at which the entry was made, Unix seconds; empty
            where the exporter has none.
        instance, database, user, queryid, toplevel: labels; one that the exporter
            does not write reads as empty.
        seconds_per_unit: 0.001 for a counter in milliseconds.
    """

    calls: str
    seconds: str
    since: str = ""
    instance: str = "instance"
    database: str = "datname"
    user: str = "user"
    queryid: str = "queryid"
    toplevel: str = "toplevel"
    seconds_per_unit: float = 1.0

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metric names to ask for."""
        return tuple(name for name in (self.calls, self.seconds, self.since) if name)

    def key(self, labels: Mapping[str, str]) -> QueryKey:
        """The query that a series with *labels* tells about."""
        return QueryKey(
            instance=labels.get(self.instance, ""),
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
    ),
    # Its stat_statements collector; it writes neither toplevel nor stats_since.
    "postgres_exporter": Profile(
        calls="pg_stat_statements_calls_total",
        seconds="pg_stat_statements_seconds_total",
    ),
}
