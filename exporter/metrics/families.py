"""Snapshot → metric families about the server and its statements. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ..values.context import ContextMetric, ContextRow
from ..values.plan import Plans
from ..values.snapshot import Snapshot, StatementKey, Statements
from .counters import COUNTERS, SINCE
from .exposition import Family, single
from .label_books import LabelBook, extended
from .labels import NONE, inside, labels
from .server_families import server_families


def families(
    snapshot: Snapshot,
    book: LabelBook,
    *,
    counters: Collection[str],
    texts: Mapping[StatementKey, str] | None = None,
    created: bool = False,
) -> Iterator[Family]:
    """Everything in *snapshot*; what could not be read is absent.

    Args:
        counters: fields of the statements to show.
        texts: labels of the statements' texts, as far as they are known.
        created: whether each counter shows when it started.
    """
    yield from server_families(snapshot)
    if snapshot.context is not None:
        yield from context_families(snapshot.context)
    if snapshot.statements is not None:
        yield from _statements(snapshot.statements, book, counters, created=created)
        if texts:
            yield _texts(snapshot.statements, book, texts)


def context_families(rows: Iterable[ContextRow]) -> Iterator[Family]:
    """One family per metric, in the order of the rows; none without rows."""
    by_metric: dict[ContextMetric, list[ContextRow]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)
    for metric, of_metric in by_metric.items():
        yield Family(
            metric.name,
            metric.kind,
            metric.help,
            [_context_label(row) for row in of_metric],
            [row.value for row in of_metric],
        )


def connection_family(attempts: int) -> Family:
    """How often the exporter connected, or tried to."""
    return single(
        "counter",
        "pgverdict_exporter_connects_total",
        "Connections that were opened or tried.",
        attempts,
    )


def text_families(*, failures: int, missing: int) -> Iterator[Family]:
    """How well the reads of texts succeed."""
    yield single(
        "counter",
        "pgverdict_exporter_text_reads_failed_total",
        "Reads of query texts that returned none.",
        failures,
    )
    yield single(
        "gauge",
        "pgverdict_exporter_texts_missing",
        "Statements whose text the latest read did not return; the next one tries "
        "again.",
        missing,
    )


def plan_families(
    statements: Statements | None, book: LabelBook, plans: Plans
) -> Iterator[Family]:
    """What is known of the plans of *statements*."""
    if statements is not None:
        further = {key: inside(*plan.labels) for key, plan in plans.known.items()}
        with_plan = extended(statements, book.of(statements), further)
        yield Family(
            "pg_stat_statements_plan_info",
            "gauge",
            "Always 1: the generic plan of one of the costliest statements, and its "
            "identity, which does not change with costs.",
            with_plan,
            [1] * len(with_plan),
        )
    yield Family(
        "pgverdict_exporter_plans_skipped",
        "gauge",
        "Statements without a plan in the latest round, by reason.",
        [labels(("reason", reason)) for reason in plans.skipped],
        list(plans.skipped.values()),
    )
    yield single(
        "gauge",
        "pgverdict_exporter_plans_read_timestamp_seconds",
        "When the latest round of reading plans ended, Unix time; 0 before the first.",
        plans.ended,
    )


def _context_label(row: ContextRow) -> str:
    if not row.metric.label:
        return NONE
    return labels((row.metric.label, row.label_value or ""))


def _statements(
    statements: Statements,
    book: LabelBook,
    counters: Collection[str],
    *,
    created: bool,
) -> Iterator[Family]:
    plain = book.of(statements)
    since = statements.columns.get(SINCE)
    starts = since if created else None
    for counter in COUNTERS:
        values = statements.columns.get(counter.field)
        if values is not None and counter.field in counters:
            yield Family(counter.name, "counter", counter.help, plain, values, starts)
    if since is not None:
        yield Family(
            "pg_stat_statements_stats_since_seconds",
            "gauge",
            "When the entry was created and its counters were zero, Unix time. "
            "Source: stats_since.",
            plain,
            since,
        )
    yield Family(
        "pgverdict_exporter_statements_skipped",
        "gauge",
        "Rows of pg_stat_statements that could not be named and are not shown, by "
        "reason.",
        [labels(("reason", reason)) for reason in statements.skipped],
        list(statements.skipped.values()),
    )


def _texts(
    statements: Statements, book: LabelBook, texts: Mapping[StatementKey, str]
) -> Family:
    with_text = extended(statements, book.of(statements), texts)
    return Family(
        "pg_stat_statements_query_info",
        "gauge",
        "Always 1: the statement's text, cut, and the fingerprint of its syntax tree.",
        with_text,
        [1] * len(with_text),
    )
