"""The counters of each statement: names, help, which are shown by default. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of each statement; *field* is that of queries.py."""

    field: str
    help: str
    default: bool = False

    @property
    def name(self) -> str:
        return f"pg_stat_statements_{self.field}_total"


COUNTERS = (
    Counter("calls", "Executions. Source: calls.", default=True),
    Counter(
        "seconds",
        "Time spent executing, in seconds. Source: total_exec_time.",
        default=True,
    ),
    Counter("rows", "Rows retrieved or affected. Source: rows.", default=True),
    Counter(
        "shared_blocks_hit",
        "Shared blocks found in the cache. Source: shared_blks_hit.",
        default=True,
    ),
    Counter(
        "shared_blocks_read",
        "Shared blocks read. Source: shared_blks_read.",
        default=True,
    ),
    Counter(
        "block_read_seconds",
        "Time spent reading shared blocks, in seconds; 0 without track_io_timing. "
        "Source: shared_blk_read_time.",
        default=True,
    ),
    Counter(
        "block_write_seconds",
        "Time spent writing shared blocks, in seconds; 0 without track_io_timing. "
        "Source: shared_blk_write_time.",
        default=True,
    ),
    Counter(
        "shared_blocks_dirtied", "Shared blocks dirtied. Source: shared_blks_dirtied."
    ),
    Counter(
        "shared_blocks_written", "Shared blocks written. Source: shared_blks_written."
    ),
    Counter(
        "local_blocks_hit", "Local blocks found in the cache. Source: local_blks_hit."
    ),
    Counter("local_blocks_read", "Local blocks read. Source: local_blks_read."),
    Counter("temp_blocks_read", "Temporary blocks read. Source: temp_blks_read."),
    Counter(
        "temp_blocks_written", "Temporary blocks written. Source: temp_blks_written."
    ),
    Counter(
        "temp_block_read_seconds",
        "Time spent reading temporary blocks, in seconds. Source: temp_blk_read_time.",
    ),
    Counter(
        "temp_block_write_seconds",
        "Time spent writing temporary blocks, in seconds. Source: temp_blk_write_time.",
    ),
    Counter("plans", "Plans made; 0 without track_planning. Source: plans."),
    Counter(
        "plan_seconds",
        "Time spent planning, in seconds; 0 without track_planning. "
        "Source: total_plan_time.",
    ),
    Counter("wal_records", "WAL records generated. Source: wal_records."),
    Counter("wal_bytes", "WAL generated, in bytes. Source: wal_bytes."),
    Counter(
        "seconds_squared",
        "Sum of the squared execution times, in square seconds: "
        "calls * (stddev_exec_time^2 + mean_exec_time^2). May decrease by rounding if "
        "calls were once thousands of times slower than now.",
    ),
)
COUNTER_FIELDS = tuple(counter.field for counter in COUNTERS)
DEFAULT_COUNTERS = tuple(counter.field for counter in COUNTERS if counter.default)
SINCE = "since"
