"""What one read of one server yields: plain frozen values, seconds and Unix time.

The statements are kept by column, not by row: a server has up to 50,000 of them, and
every metric family is one column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .context import ContextRow
from .missing import MissingMeasure
from .problems import Problem

# userid, dbid, queryid, toplevel: the key of a row of pg_stat_statements. toplevel is
# None where the extension has no such column (before 1.9). A plain tuple, because a
# server has 50,000 of them at every scrape.
StatementKey = tuple[int, int, int, bool | None]

# Names and values of labels that are not rendered yet.
LabelPairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Names:
    """Role and database names by oid; dropped roles and databases are absent."""

    roles: Mapping[int, str] = field(default_factory=dict)
    databases: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Statements:
    """The n statements that can be named, and how many rows could not.

    Args:
        keys: n keys, all different.
        columns: by field name (``calls``, ``seconds`` …) n values in the order of the
            keys; a field that this server does not offer is absent.
        names: holds the role and the database of every key.
        skipped: number of rows left out, by reason.
    """

    keys: Sequence[StatementKey]
    columns: Mapping[str, Sequence[float]]
    names: Names
    skipped: Mapping[str, int]

    def __post_init__(self) -> None:
        wrong = [f for f, c in self.columns.items() if len(c) != len(self.keys)]
        if wrong:
            raise ValueError(f"one value per statement is needed in: {wrong}")


@dataclass(frozen=True, slots=True)
class Server:
    """Which server answered and how it collects; None where that is unknown.

    Args:
        version: as PostgreSQL spells it, for example ``17.11``.
        extension: version of pg_stat_statements in this database; empty without it.
        role, database: the exporter's own role and database.
        major: major version, for example 17.
        started: when the server started, Unix seconds.
        standby: whether it is in recovery.
        collecting: whether executions are counted (``pg_stat_statements.track`` and
            ``compute_query_id``).
        capacity: how many entries fit, ``pg_stat_statements.max``.
        reads_all: whether the role may see the statements of other roles.
        system_identifier: made by initdb, the same on a primary and its standbys.
    """

    version: str
    extension: str
    role: str
    started: float | None
    standby: bool | None
    database: str = ""
    major: int = 0
    collecting: bool | None = None
    capacity: int | None = None
    reads_all: bool | None = True
    system_identifier: str | None = None


@dataclass(frozen=True, slots=True)
class Evictions:
    """pg_stat_statements_info: how often entries were evicted, and the last reset."""

    deallocations: int | None
    reset: float | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Statements that a limit left out, and their share of the total time, 0 to 1."""

    statements: int
    share: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One read. What could not be read is None, and a problem says why.

    Args:
        up: whether PostgreSQL answered.
        entries: rows of pg_stat_statements, including those that were skipped.
        duration: how long the read took, seconds.
        context: numbers about the server as a whole.
        left_out: what a limit left out of the statements; None without a limit.
        missing: measures that this server does not offer, or refused.
    """

    up: bool
    problems: tuple[Problem, ...] = ()
    server: Server | None = None
    statements: Statements | None = None
    evictions: Evictions | None = None
    entries: int | None = None
    duration: float | None = None
    context: Sequence[ContextRow] | None = None
    left_out: LeftOut | None = None
    missing: Sequence[MissingMeasure] = ()
