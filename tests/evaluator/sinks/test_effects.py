"""The whole effect of a deploy as people read it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluator.model import (
    Cause,
    CauseKind,
    DecisionKind,
    Effects,
    Level,
    MeasureErrors,
    Outcome,
    PlanChange,
    Reason,
    Report,
    Settings,
    Shift,
)
from evaluator.sinks.annotations import draft_of
from evaluator.sinks.effects.lines import effect_lines, lines_of
from evaluator.sinks.effects.sentences import notes_of
from evaluator.sinks.groups import cause_of, grouped
from evaluator.sinks.headline import describe_result
from evaluator.sinks.text import to_table
from tests.builders import (
    DEPLOY_AT,
    KEY,
    deploy,
    effects,
    finding,
    flood,
    improvement,
    key,
    load_change,
    moved,
    new_statement,
    shared_rise,
    vanished,
)

SHIFT = Shift(DEPLOY_AT, 1.0, 3.0, 1e-9)
FINE = replace(finding(Level.WATCH), outcome=Outcome.NO_REGRESSION, significance=None)
LOST = PlanChange("Index Scan a_pkey", "Seq Scan a", ("Index Scan a_pkey",), ())


def report(*verdicts, **found):
    verdicts = verdicts or (FINE,)
    return Report(
        deploy(), DEPLOY_AT + 1900, Settings(), verdicts, effects=Effects(**found)
    )


@pytest.mark.parametrize(
    ("made", "kind", "words"),
    [
        (report(), DecisionKind.CLEAR, "no query found slower"),
        (report(finding(Level.ALERT)), DecisionKind.REGRESSED, "1 query slower"),
        (
            report(floods=(flood(),)),
            DecisionKind.REGRESSED,
            "1 query called ×25 as often",
        ),
        (
            report(floods=(flood("1"), flood("2"))),
            DecisionKind.REGRESSED,
            "2 queries called more often",
        ),
        (
            report(floods=(flood(share=0.01),)),
            DecisionKind.CLEAR,
            "no query found slower",
        ),
        (
            report(new=(new_statement(),)),
            DecisionKind.CLEAR,
            "no query found slower, new statement new takes 40 % of the execution time",
        ),
        (
            report(new=(new_statement("1", 0.2), new_statement("2", 0.1))),
            DecisionKind.CLEAR,
            "no query found slower, 2 new statements take 30 % of the execution time",
        ),
        (
            report(finding(Level.ALERT), moved=(moved(),)),
            DecisionKind.CLEAR,
            "the cost of 1 query moved",
        ),
        (
            report(finding(Level.ALERT), floods=(flood("-42"),), moved=(moved(),)),
            DecisionKind.CLEAR,
            "the cost of 1 query moved",
        ),
        (
            report(finding(Level.ALERT), finding(Level.ALERT, "2"), moved=(moved(),)),
            DecisionKind.REGRESSED,
            "1 query slower, the cost of 1 query moved",
        ),
        (
            report(finding(Level.ALERT), shared=(shared_rise(),)),
            DecisionKind.REGRESSED,
            "server db1:9719 slowed by ×1.40",
        ),
        (
            report(
                finding(Level.ALERT),
                finding(Level.ALERT, "2"),
                shared=(shared_rise(whole=False),),
            ),
            DecisionKind.REGRESSED,
            "62 queries of db1:9719 that move together slowed by ×1.40, "
            "1 query slower beyond that",
        ),
    ],
)
def test_the_headline_says_just_what_was_found(made, kind, words):
    assert made.decision.kind is kind
    assert describe_result(made) == words


def test_an_undecided_report_names_its_new_statements():
    unknown = replace(FINE, outcome=Outcome.INSUFFICIENT_DATA, reason="new")
    made = report(unknown, new=(new_statement(replaced=vanished()),))

    assert made.decision.reason is Reason.TIME_UNJUDGED
    assert describe_result(made) == (
        "cannot tell whether a query got slower, new statement new in place of old "
        "takes 40 % of the execution time"
    )


LINES = [
    "load of db1:9719: 0.5 → 0.9 s of execution each second (+0.4: slower calls +0.1, "
    "more calls +0.25, new statements +0.15, vanished statements -0.1)",
    "query often (app@shop on db1:9719): called ×25 as often (22 to 28), 2 → 50 "
    "calls/s, 30 % of the execution time",
    "new statement new (app@shop on db1:9719): 10 calls/s of 40 ms, 40 % of the "
    "execution time, first seen 15 s after the deploy; replaced? old, 40 calls/s of 5 "
    "ms; load +0.2 (+0.18 to +0.22): SELECT * FROM orders",
    "query moved (app@shop on db1:9719): 10 calls/s of 10 ms → 10 calls/s of 25 ms, in "
    "place of old (40 calls/s of 5 ms), which is not called any more: the cost moved, "
    "load -0.05 (-0.055 to -0.045)",
    "faster: query fast (app@shop on db1:9719): ×0.50, 20 ms → 10 ms per call, saves "
    "100 ms each second",
]


def test_each_effect_is_a_line():
    made = replace(report(), effects=effects())

    assert [*effect_lines(made)] == LINES


def test_the_table_names_the_statements_behind_each_part_of_a_load():
    table = to_table(report(loads=(load_change(),)))

    assert "\n  more calls +0.25 (+0.23 to +0.28): -42 +0.25\n" in table


def test_table_and_annotation_have_them_all():
    made = replace(report(), effects=effects())

    table, annotation = to_table(made), draft_of(made).text

    for line in LINES:
        assert line in table
        assert line[:200] in annotation
    assert annotation.startswith(
        "pgverdict: 1 query called ×25 as often, new statement new in place of old "
        "takes 40 % of the execution time, the cost of 1 query moved after deploy shop"
    )


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (
            {"floods": tuple(flood(str(n), 0.01) for n in range(11))},
            "11 queries of db1:9719 called more often, ×25 to ×25: 11 % of the "
            "execution time",
        ),
        (
            {"new": tuple(new_statement(str(n), 0.01) for n in range(11))},
            "11 new statements on db1:9719: 11 % of the execution time; 1 % by 0",
        ),
        (
            {"improvements": tuple(improvement(str(n)) for n in range(11))},
            "faster: 11 queries of db1:9719: ×0.50 to ×0.50, save 1.1 s each second",
        ),
    ],
)
def test_more_than_ten_of_a_kind_are_one_line_unless_all_are_asked_for(found, line):
    made = report(**found)

    assert [*effect_lines(made)] == [line]
    assert len([*effect_lines(made, everything=True)]) == 11


def test_more_than_ten_slower_queries_with_one_cause_are_one_line_with_their_number():
    slower = [
        replace(finding(Level.ALERT, str(n)), plan_change=LOST) for n in range(12)
    ]
    made = report(*slower, finding(Level.ALERT, "alone"))

    table, annotation = to_table(made).splitlines(), draft_of(made).text.splitlines()

    (alone,) = [line for line in table if "queryid" in line]
    assert alone.endswith("queryid alone")
    (together,) = [line for line in table if "12 queries on db1:9719" in line]
    assert together.split()[0] == "×1.50–1.50"
    assert together.endswith("lost Index Scan a_pkey")
    assert annotation[0].startswith("pgverdict: 13 queries slower")
    assert annotation[1] == (
        "1. query alone (app@shop on db1:9719): ×1.50, 10 ms → 15 ms per call, costs "
        "3.33 ms more each second"
    )
    assert annotation[2].startswith(
        "2. 12 queries on db1:9719: ×1.50 to ×1.50, cost 40 ms more each second; its "
    )
    assert to_table(made, everything=True).count("queryid") == 13


def test_ten_are_ten_lines():
    slower = [
        replace(finding(Level.ALERT, str(n)), plan_change=LOST) for n in range(10)
    ]

    assert [len(group.members) for group in grouped(slower, cause_of)] == [1] * 10


def test_one_cause_is_the_same_measure_deploy_or_plan_on_one_server():
    external = Cause(CauseKind.RESTART, external=True, at=DEPLOY_AT)
    own = Cause(CauseKind.CALL_RATE, external=False, shift=SHIFT)
    together = Cause(CauseKind.COMMON_SHIFT, external=False, factor=2.0)
    one = replace(finding(Level.ALERT), causes=(own, external))

    assert cause_of(finding(Level.ALERT)) is None
    assert cause_of(one) == cause_of(replace(one, key=key("2")))
    elsewhere = replace(one, key=replace(KEY, instance="db2"))
    assert cause_of(one) != cause_of(elsewhere)
    assert cause_of(replace(one, causes=(own,))) is None
    # What concerns all queries of a server is shared though it is a note.
    assert cause_of(replace(one, causes=(together,))) is not None


def test_what_spoilt_the_measure_is_a_note():
    made = replace(
        report(errors=(MeasureErrors("db1", DEPLOY_AT + 15, 20, 1, 2, 3, 40),)),
        notes=("another",),
    )

    assert notes_of(made) == (
        "another",
        "the statistics on db1 were reset by 2026-09-21T14:13:35Z: 20 statements lost "
        "one interval",
        "1 of 40 statements on db1 were evicted and made anew at least once: "
        "pg_stat_statements.max is too small for them",
        "2 of 40 statements on db1 were not stored by every scrape: evicted, or left "
        "out by the exporter's limit",
        "the text of 3 new statements on db1 is not known, so an old one under a new "
        "id counts as new",
    )
    assert all(f"note: {note}" in to_table(made) for note in notes_of(made))


@pytest.mark.parametrize(
    ("queryid", "start"),
    [
        ("often", "query often"),
        ("new", "new statement new"),
        ("moved", "query moved"),
        ("fast", "faster: query fast"),
    ],
)
def test_a_query_has_the_lines_that_are_about_it(queryid, start):
    made = replace(report(), effects=effects())

    (line,) = lines_of(key(queryid), made)

    assert line.startswith(start)


def test_a_vanished_statement_is_named_with_what_took_over():
    made = replace(report(), effects=effects())

    took_over, gone = lines_of(key("old"), made)

    assert took_over.startswith("query moved")
    assert gone == (
        "statement old (app@shop on db1:9719) is not called any more: 40 calls/s of 5 "
        "ms, last 0 µs after the deploy: SELECT FROM orders"
    )
