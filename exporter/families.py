"""Names, help, labels of the metrics about PostgreSQL; Snapshot → families. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from .context import context_families
from .counters import COUNTERS, SINCE
from .exposition import Family, single
from .labels import LabelBook, labels, with_texts
from .plans import Plans
from .serverfamilies import server_families
from .snapshot import Snapshot, StatementKey, Statements


def families(
    snapshot: Snapshot,
    book: LabelBook,
    *,
    counters: Collection[str],
    texts: Mapping[StatementKey, str] | None = None,
    created: bool = False,
) -> Iterator[Family]:
    """Everything that *snapshot* says; what it does not know is absent.

    Args:
        counters: fields of the statements to show.
        texts: what is known of the statements' texts.
        created: whether each counter tells when it began.
    """
    yield from server_families(snapshot)
    if snapshot.context is not None:
        yield from context_families(snapshot.context)
    if snapshot.statements is not None:
        yield from _statements(snapshot.statements, book, counters, created=created)
        if texts:
            yield _texts(snapshot.statements, book, texts)


def connect_family(connects: int) -> Family:
    """How often the exporter connected."""
    return single(
        "counter",
        "pgverdict_exporter_connects_total",
        "Connections that were opened or tried.",
        connects,
    )


def text_families(*, failures: int, missing: int) -> Iterator[Family]:
    """How reading the texts goes."""
    yield single(
        "counter",
        "pgverdict_exporter_text_reads_failed_total",
        "Reads of query texts that brought none.",
        failures,
    )
    yield single(
        "gauge",
        "pgverdict_exporter_texts_missing",
        "Statements whose text the newest read of texts did not bring; "
        "the next one asks again.",
        missing,
    )


def plan_families(
    statements: Statements | None, book: LabelBook, plans: Plans
) -> Iterator[Family]:
    """What is known of the plans of *statements*."""
    if statements is not None:
        found = with_texts(statements, book.of(statements), plans.labels)
        yield Family(
            "pg_stat_statements_plan_info",
            "gauge",
            "Always 1: the generic plan of one of the costliest statements, and its "
            "identity, which does not change with costs.",
            found,
            [1] * len(found),
        )
    yield Family(
        "pgverdict_exporter_plans_skipped",
        "gauge",
        "Statements of the newest round that have no plan.",
        [labels(("reason", reason)) for reason in plans.skipped],
        list(plans.skipped.values()),
    )
    yield single(
        "gauge",
        "pgverdict_exporter_plans_read_timestamp_seconds",
        "When the newest round of reading plans ended, Unix time; 0 before the first.",
        plans.at,
    )


def _statements(
    statements: Statements,
    book: LabelBook,
    counters: Collection[str],
    *,
    created: bool,
) -> Iterator[Family]:
    plain = book.of(statements)
    since = statements.columns.get(SINCE)
    begun = since if created else None
    for counter in COUNTERS:
        values = statements.columns.get(counter.field)
        if values is not None and counter.field in counters:
            yield Family(counter.name, "counter", counter.help, plain, values, begun)
    if since is not None:
        yield Family(
            "pg_stat_statements_stats_since_seconds",
            "gauge",
            "When the entry was made and its counters were zero, Unix time. "
            "Source: stats_since.",
            plain,
            since,
        )
    yield Family(
        "pgverdict_exporter_statements_skipped",
        "gauge",
        "Rows of pg_stat_statements that could not be named and are not shown.",
        [labels(("reason", reason)) for reason in statements.skipped],
        list(statements.skipped.values()),
    )


def _texts(
    statements: Statements, book: LabelBook, texts: Mapping[StatementKey, str]
) -> Family:
    found = with_texts(statements, book.of(statements), texts)
    return Family(
        "pg_stat_statements_query_info",
        "gauge",
        "Always 1: the statement's text, cut, and the fingerprint of its syntax tree.",
        found,
        [1] * len(found),
    )
