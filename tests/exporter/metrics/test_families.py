from __future__ import annotations

from exporter.metrics.counters import COUNTERS, DEFAULT_COUNTERS
from exporter.metrics.families import context_families, families
from exporter.metrics.label_books import LabelBook
from exporter.values.context import ContextMetric, ContextRow
from exporter.values.problems import EXTENSION_MISSING, TIMEOUT, Reason
from exporter.values.snapshot import Evictions, Server, Snapshot

from ..builders import family_named, key, page, samples, series, statements

SERVER = Server("17.11", "1.11", "pgverdict", 1000.5, standby=False)


def shown(
    snapshot: Snapshot, *counters: str, **more: object
) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    made = families(
        snapshot,
        LabelBook(),
        counters=counters or DEFAULT_COUNTERS,
        **more,  # type: ignore[arg-type]
    )
    return samples(page(*made))


def test_a_server_that_is_down_shows_no_statement_and_no_zero_instead() -> None:
    values = shown(Snapshot(up=False, problems=(TIMEOUT,)))

    assert values[series("pg_up")] == 0
    assert {name for name, _ in values} == {"pg_up", "pgverdict_exporter_problem"}


def test_every_reason_is_a_series_that_is_zero_or_one() -> None:
    values = shown(Snapshot(up=True, problems=(EXTENSION_MISSING,)))

    reasons = {
        dict(labels)["reason"]: value
        for (name, labels), value in values.items()
        if name == "pgverdict_exporter_problem"
    }
    assert set(reasons) == set(Reason)
    assert [reason for reason, value in reasons.items() if value] == [
        "extension_missing"
    ]


def test_a_row_becomes_series() -> None:
    read = statements(key(-7), calls=[110], seconds=[1.5], since=[1790000000.25])

    values = shown(Snapshot(up=True, statements=read))

    labels = {"user": "app", "datname": "shop", "queryid": "-7", "toplevel": "true"}
    assert values[series("pg_stat_statements_calls_total", **labels)] == 110
    assert values[series("pg_stat_statements_seconds_total", **labels)] == 1.5
    since = series("pg_stat_statements_stats_since_seconds", **labels)
    assert values[since] == 1790000000.25


def test_a_counter_that_the_server_does_not_have_is_absent() -> None:
    values = shown(Snapshot(up=True, statements=statements(key(1), calls=[1])))

    assert not [name for name, _ in values if "seconds_total" in name]


def test_only_the_configured_counters_are_shown() -> None:
    read = statements(key(1), calls=[1], seconds=[2.0], rows=[3])

    values = shown(Snapshot(up=True, statements=read), "calls")

    names = {name for name, _ in values if name.startswith("pg_stat_statements")}
    assert names == {"pg_stat_statements_calls_total"}


def test_the_names_that_dashboards_know_are_the_default() -> None:
    assert [counter.name for counter in COUNTERS if counter.default] == [
        "pg_stat_statements_calls_total",
        "pg_stat_statements_seconds_total",
        "pg_stat_statements_rows_total",
        "pg_stat_statements_shared_blocks_hit_total",
        "pg_stat_statements_shared_blocks_read_total",
        "pg_stat_statements_block_read_seconds_total",
        "pg_stat_statements_block_write_seconds_total",
    ]


def test_evictions_are_a_counter_and_the_reset_a_time() -> None:
    made = list(
        families(
            Snapshot(up=True, evictions=Evictions(3, 1790000000.5)),
            LabelBook(),
            counters=(),
        )
    )

    dealloc = family_named(made, "pg_stat_statements_info_dealloc_total")
    reset = family_named(made, "pg_stat_statements_info_stats_reset_seconds")
    assert (dealloc.kind, dealloc.values) == ("counter", (3,))
    assert (reset.kind, reset.values) == ("gauge", (1790000000.5,))


def test_what_is_unknown_of_the_server_is_absent() -> None:
    values = shown(Snapshot(up=True, server=SERVER, evictions=Evictions(0, None)))

    names = {name for name, _ in values}
    assert "pg_stat_statements_collecting" not in names
    assert "pg_stat_statements_info_stats_reset_seconds" not in names
    assert values[series("pg_postmaster_start_time_seconds")] == 1000.5
    assert values[series("pg_in_recovery")] == 0


def test_texts_are_shown_in_a_series_of_their_own() -> None:
    read = statements(key(1), key(2), calls=[1, 2])
    texts = {key(2): 'query="SELECT 2"'}

    values = shown(Snapshot(up=True, statements=read), texts=texts)

    info = [labels for name, labels in values if name.endswith("query_info")]
    assert [dict(labels)["query"] for labels in info] == ["SELECT 2"]


def test_without_texts_no_series_shows_them() -> None:
    read = statements(key(1), calls=[1])

    assert not [
        name for name, _ in shown(Snapshot(up=True, statements=read)) if "info" in name
    ]


def test_starts_of_counters_are_shown_only_if_configured() -> None:
    read = statements(key(1), calls=[1], since=[1790000000.5])
    snapshot = Snapshot(up=True, statements=read)

    def starts(*, created: bool) -> object:
        made = families(snapshot, LabelBook(), counters=["calls"], created=created)
        return family_named(made, "pg_stat_statements_calls_total").created

    assert starts(created=True) == [1790000000.5]
    assert starts(created=False) is None


def test_rows_left_out_are_counted_by_reason() -> None:
    read = statements(calls=[], skipped={"no_privilege": 4})

    values = shown(Snapshot(up=True, statements=read))

    name = "pgverdict_exporter_statements_skipped"
    assert values[series(name, reason="no_privilege")] == 4


def test_context_rows_become_families_with_their_label() -> None:
    connections = ContextMetric("pg_connections", "gauge", "", "state")
    wal = ContextMetric("pg_wal_bytes_total", "counter", "")
    rows = [
        ContextRow(connections, "active", 3.0),
        ContextRow(connections, "idle", 2.0),
        ContextRow(wal, None, 7.0),
    ]

    by_state, generated = context_families(rows)

    assert by_state.labels == ['{state="active"}', '{state="idle"}']
    assert by_state.values == [3.0, 2.0]
    assert (generated.name, generated.kind) == ("pg_wal_bytes_total", "counter")
    assert (generated.labels, generated.values) == ([""], [7.0])


def test_every_counter_has_help_that_names_its_source() -> None:
    for counter in COUNTERS:
        assert "Source: " in counter.help or "calls * " in counter.help
