from __future__ import annotations

from exporter.counters import COUNTERS, DEFAULT_COUNTERS
from exporter.families import families
from exporter.labels import LabelBook
from exporter.problems import EXTENSION_MISSING, TIMEOUT, Reason
from exporter.snapshot import Evictions, Server, Snapshot

from .builders import family_named, key, page, samples, series, statements

SERVER = Server("17.11", "1.11", "pgverdict", 1000.5, standby=False)


def shown(
    snapshot: Snapshot, *counters: str, **more: object
) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    found = families(
        snapshot,
        LabelBook(),
        counters=counters or DEFAULT_COUNTERS,
        **more,  # type: ignore[arg-type]
    )
    return samples(page(*found))


def test_a_server_that_is_down_shows_no_statement_and_no_zero_in_its_place() -> None:
    found = shown(Snapshot(up=False, problems=(TIMEOUT,)))

    assert found[series("pg_up")] == 0
    assert {name for name, _ in found} == {"pg_up", "pgverdict_exporter_problem"}


def test_every_reason_is_a_series_that_is_zero_or_one() -> None:
    found = shown(Snapshot(up=True, problems=(EXTENSION_MISSING,)))

    reasons = {
        dict(labels)["reason"]: value
        for (name, labels), value in found.items()
        if name == "pgverdict_exporter_problem"
    }
    assert set(reasons) == set(Reason)
    assert [reason for reason, value in reasons.items() if value] == [
        "extension_missing"
    ]


def test_a_row_of_the_view_becomes_its_series() -> None:
    read = statements(key(-7), calls=[110], seconds=[1.5], since=[1790000000.25])

    found = shown(Snapshot(up=True, statements=read))

    labels = {"user": "app", "datname": "shop", "queryid": "-7", "toplevel": "true"}
    assert found[series("pg_stat_statements_calls_total", **labels)] == 110
    assert found[series("pg_stat_statements_seconds_total", **labels)] == 1.5
    since = series("pg_stat_statements_stats_since_seconds", **labels)
    assert found[since] == 1790000000.25


def test_a_counter_that_the_server_lacks_is_absent() -> None:
    found = shown(Snapshot(up=True, statements=statements(key(1), calls=[1])))

    assert not [name for name, _ in found if "seconds_total" in name]


def test_only_the_counters_that_were_asked_for_are_shown() -> None:
    read = statements(key(1), calls=[1], seconds=[2.0], rows=[3])

    found = shown(Snapshot(up=True, statements=read), "calls")

    names = {name for name, _ in found if name.startswith("pg_stat_statements")}
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
    found = list(
        families(
            Snapshot(up=True, evictions=Evictions(3, 1790000000.5)),
            LabelBook(),
            counters=(),
        )
    )

    dealloc = family_named(found, "pg_stat_statements_info_dealloc_total")
    reset = family_named(found, "pg_stat_statements_info_stats_reset_seconds")
    assert (dealloc.kind, dealloc.values) == ("counter", (3,))
    assert (reset.kind, reset.values) == ("gauge", (1790000000.5,))


def test_what_the_server_does_not_tell_is_absent() -> None:
    found = shown(Snapshot(up=True, server=SERVER, evictions=Evictions(0, None)))

    names = {name for name, _ in found}
    assert "pg_stat_statements_collecting" not in names
    assert "pg_stat_statements_info_stats_reset_seconds" not in names
    assert found[series("pg_postmaster_start_time_seconds")] == 1000.5
    assert found[series("pg_in_recovery")] == 0


def test_texts_are_shown_once_beside_the_counters() -> None:
    read = statements(key(1), key(2), calls=[1, 2])
    texts = {key(2): 'query="SELECT 2"'}

    found = shown(Snapshot(up=True, statements=read), texts=texts)

    info = [labels for name, labels in found if name.endswith("query_info")]
    assert [dict(labels)["query"] for labels in info] == ["SELECT 2"]


def test_without_texts_there_is_no_trace_of_them() -> None:
    read = statements(key(1), calls=[1])

    assert not [
        name for name, _ in shown(Snapshot(up=True, statements=read)) if "info" in name
    ]


def test_beginnings_are_told_only_when_asked_for() -> None:
    read = statements(key(1), calls=[1], since=[1790000000.5])
    snapshot = Snapshot(up=True, statements=read)

    def begun(*, created: bool) -> object:
        found = families(snapshot, LabelBook(), counters=["calls"], created=created)
        return family_named(found, "pg_stat_statements_calls_total").created

    assert begun(created=True) == [1790000000.5]
    assert begun(created=False) is None


def test_rows_left_out_are_counted_by_reason() -> None:
    read = statements(calls=[], skipped={"no_privilege": 4})

    found = shown(Snapshot(up=True, statements=read))

    name = "pgverdict_exporter_statements_skipped"
    assert found[series(name, reason="no_privilege")] == 4


def test_every_metric_has_help_that_names_its_unit_or_source() -> None:
    for counter in COUNTERS:
        assert "Source: " in counter.help or "calls * " in counter.help
