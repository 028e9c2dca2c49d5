"""Answers and refusals → a snapshot; test_refusals.py has real servers."""

from __future__ import annotations

from exporter.postgres.connecting.facts import Facts
from exporter.postgres.measures import IDENTITY, READS_ALL, STANDBY, STARTED, Measure
from exporter.postgres.snapshots import Answers, completed
from exporter.values.context import ContextMetric
from exporter.values.missing import Refusal, Refused
from exporter.values.problems import Reason
from exporter.values.snapshot import Snapshot

from ..builders import statements

FACTS = Facts("17.1", 17, "pgverdict", "postgres", "1.11", "public", frozenset())
READ = Snapshot(up=True, statements=statements())
ALL = Measure(READS_ALL, "")
WAL = Measure("wal", "", metric=ContextMetric("wal", "counter", "WAL"))
CLIENTS = Measure(
    "clients", "", of_all_roles=True, metric=ContextMetric("clients", "gauge", "n")
)


def with_answers(answers: Answers) -> Snapshot:
    return completed(READ, FACTS, {ALL: [(None, 1.0)], **answers})


def reasons(snapshot: Snapshot) -> list[Reason]:
    return [problem.reason for problem in snapshot.problems]


def test_what_was_refused_is_unknown_and_not_zero() -> None:
    refused = Refused(Refusal.FAILED, "XX000")
    snapshot = with_answers(
        {Measure(STANDBY, ""): refused, Measure(STARTED, ""): refused}
    )

    assert snapshot.server is not None
    assert (snapshot.server.standby, snapshot.server.started) == (None, None)
    assert reasons(snapshot) == [Reason.MEASURES_MISSING]
    assert "pg_in_recovery (failed, SQLSTATE XX000)" in snapshot.problems[0].message


def test_what_the_server_lacks_is_missing_without_a_problem() -> None:
    snapshot = with_answers({WAL: Refused(Refusal.NOT_OFFERED)})

    assert [missing.measure for missing in snapshot.missing] == ["wal"]
    assert (snapshot.problems, snapshot.context) == ((), None)


def test_one_refused_measure_leaves_the_others() -> None:
    snapshot = with_answers(
        {WAL: Refused(Refusal.TIMEOUT, "55P03"), CLIENTS: [(None, 3.0)]}
    )

    assert [(row.metric.name, row.value) for row in snapshot.context or ()] == [
        ("clients", 3.0)
    ]
    assert reasons(snapshot) == [Reason.CONTEXT_MISSING]


def test_without_the_privilege_a_count_of_all_roles_is_missing() -> None:
    for own in (0.0, None):
        snapshot = with_answers({ALL: [(None, own)], CLIENTS: [(None, 1.0)]})

        assert snapshot.context is None
        assert [str(missing) for missing in snapshot.missing] == [
            "clients (permission_denied)"
        ]


def test_an_identity_is_text() -> None:
    identity = Measure(IDENTITY, "")

    known = with_answers({identity: [("7412345678901234567", 0.0)]})
    refused = with_answers({identity: Refused(Refusal.PERMISSION_DENIED, "42501")})

    assert known.server is not None
    assert known.server.system_identifier == "7412345678901234567"
    assert refused.server is not None
    assert refused.server.system_identifier is None
    assert 'GRANT pg_monitor TO "pgverdict"' in refused.problems[0].remedy
