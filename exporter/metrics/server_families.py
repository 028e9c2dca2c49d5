"""Snapshot → metric families about the read and the server as a whole. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from ..values.problems import Reason
from ..values.snapshot import Evictions, LeftOut, Server, Snapshot
from .counters import COUNTERS, SINCE
from .exposition import Family, single
from .labels import labels

Source = TypeVar("Source")


@dataclass(frozen=True, slots=True)
class _Single(Generic[Source]):
    """A family of one sample without labels; absent where its value is None."""

    name: str
    help: str
    value: Callable[[Source], float | None]
    kind: Literal["counter", "gauge"] = "gauge"


def _singles(table: Iterable[_Single[Source]], source: Source) -> Iterator[Family]:
    for row in table:
        value = row.value(source)
        if value is not None:
            yield single(row.kind, row.name, row.help, value)


# A statement's field that is missing is shown as the metric that it would be.
_FIELD_NAMES = {
    **{counter.field: counter.name for counter in COUNTERS},
    SINCE: "pg_stat_statements_stats_since_seconds",
}
_READ: tuple[_Single[Snapshot], ...] = (
    _Single(
        "pg_up",
        "1 if PostgreSQL answered; what could not be read is in "
        "pgverdict_exporter_problem.",
        lambda snapshot: int(snapshot.up),
    ),
    _Single(
        "pgverdict_exporter_read_duration_seconds",
        "How long PostgreSQL took to answer, in seconds.",
        lambda snapshot: snapshot.duration,
    ),
    _Single(
        "pg_stat_statements_entries",
        "Rows of pg_stat_statements, including those that could not be shown.",
        lambda snapshot: snapshot.entries,
    ),
)
_SERVER: tuple[_Single[Server], ...] = (
    _Single(
        "pg_postmaster_start_time_seconds",
        "When the server started, Unix time.",
        lambda server: server.started,
    ),
    _Single(
        "pg_in_recovery",
        "1 if a standby answered, 0 if a primary.",
        lambda server: None if server.standby is None else int(server.standby),
    ),
    _Single(
        "pg_stat_statements_collecting",
        "1 if executions are counted, by pg_stat_statements.track and "
        "compute_query_id; absent if these are set for the exporter's own role or "
        "database.",
        lambda server: None if server.collecting is None else int(server.collecting),
    ),
    _Single(
        "pg_stat_statements_max_entries",
        "How many entries fit before some are evicted: pg_stat_statements.max.",
        lambda server: server.capacity,
    ),
)
_EVICTIONS: tuple[_Single[Evictions], ...] = (
    _Single(
        "pg_stat_statements_info_dealloc_total",
        "How often entries were evicted to make room. Source: dealloc.",
        lambda evictions: evictions.deallocations,
        kind="counter",
    ),
    _Single(
        "pg_stat_statements_info_stats_reset_seconds",
        "When all statistics were last reset, Unix time. Source: stats_reset.",
        lambda evictions: evictions.reset,
    ),
)
_LEFT_OUT: tuple[_Single[LeftOut], ...] = (
    _Single(
        "pgverdict_exporter_statements_left_out",
        "Statements that --statements.limit left out.",
        lambda left_out: left_out.statements,
    ),
    _Single(
        "pgverdict_exporter_statements_left_out_time_ratio",
        "Share of the execution time of all statements that these took, 0 to 1.",
        lambda left_out: left_out.share,
    ),
)


def server_families(snapshot: Snapshot) -> Iterator[Family]:
    """Everything in *snapshot* about the read and its server, except the context."""
    yield from _singles(_READ, snapshot)
    yield _problems(snapshot)
    yield _missing(snapshot)
    if snapshot.server is not None:
        yield _server_info(snapshot.server)
        yield from _singles(_SERVER, snapshot.server)
    if snapshot.evictions is not None:
        yield from _singles(_EVICTIONS, snapshot.evictions)
    if snapshot.left_out is not None:
        yield from _singles(_LEFT_OUT, snapshot.left_out)


def _problems(snapshot: Snapshot) -> Family:
    present = {problem.reason for problem in snapshot.problems}
    return Family(
        "pgverdict_exporter_problem",
        "gauge",
        "1 for each reason why something is missing; "
        "the log has the details and the SQL that fixes it.",
        [labels(("reason", reason)) for reason in Reason],
        [int(reason in present) for reason in Reason],
    )


def _missing(snapshot: Snapshot) -> Family:
    return Family(
        "pgverdict_exporter_measure_missing",
        "gauge",
        "Always 1: a metric that is not shown, and why. With not_offered the server "
        "has no such thing, with any other reason it refused to answer.",
        [
            labels(
                ("measure", _FIELD_NAMES.get(missing.measure, missing.measure)),
                ("reason", missing.why.refusal),
            )
            for missing in snapshot.missing
        ],
        [1] * len(snapshot.missing),
    )


def _server_info(server: Server) -> Family:
    identity = labels(
        ("version", server.version),
        ("extension_version", server.extension),
        ("system_identifier", server.system_identifier or ""),
    )
    return Family(
        "pg_server_info",
        "gauge",
        "Always 1: versions of the server and of pg_stat_statements, and the database "
        "cluster.",
        [identity],
        [1],
    )
