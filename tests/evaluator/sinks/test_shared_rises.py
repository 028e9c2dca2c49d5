"""What many queries share, as people read it, and as Prometheus sees it."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client import CollectorRegistry

from evaluator.model import Cause, CauseKind, Effects, Level, Report, Settings, Shift
from evaluator.sinks.annotations import draft_of
from evaluator.sinks.effects.lines import effect_lines, lines_of
from evaluator.sinks.gauges import Gauges
from evaluator.sinks.text import to_table
from tests.builders import DEPLOY_AT, KEY, deploy, finding, key, shared_rise


def report(*verdicts, **found):
    return Report(
        deploy(), DEPLOY_AT + 1900, Settings(), verdicts, effects=Effects(**found)
    )


CPU = Cause(
    CauseKind.CONTEXT,
    external=True,
    measure="cpu",
    shift=Shift(DEPLOY_AT - 120, 0.2, 0.9, 1e-9),
)


class TestASharedRise:
    """A server or a group that slowed down at once is one finding."""

    def test_it_comes_with_interval_cost_members_and_history(self):
        line, *_ = effect_lines(report(shared=(shared_rise(),)))

        assert line == (
            "server db1:9719 slowed by ×1.40 (1.27 to 1.54): costs 750 ms more each "
            "second, most by -42, 2, 3; the largest of 230 jumps before the deploy was "
            "×1.08; explains 1 of the slower queries"
        )

    def test_what_speaks_for_another_cause_stands_beside_it(self):
        lines = [*effect_lines(report(shared=(shared_rise(causes=(CPU,)),)))]

        assert lines[1] == (
            "external cause: cpu changed 2.0 min before the deploy from 0.2 to 0.9"
        )

    def test_a_query_says_that_it_is_not_beyond_it(self):
        made = report(finding(Level.ALERT), shared=(shared_rise(),))

        assert [*lines_of(KEY, made)] == [
            "not more than many queries: server db1:9719 slowed by ×1.40"
        ]
        assert [*lines_of(key("2"), made)] == []

    def test_more_than_ten_queries_that_it_explains_are_one_line(self):
        slower = [finding(Level.ALERT, str(number)) for number in range(12)]
        rise = shared_rise(explained=tuple(key(str(number)) for number in range(11)))
        made = report(*slower, shared=(rise,))

        text = draft_of(made).text

        assert "1. 11 queries on db1:9719: ×1.50 to ×1.50" in text
        assert "2. query 11 " in text
        assert "11 queries on db1:9719" in to_table(made)

    def test_prometheus_sees_one_for_each_server_the_costliest(self):
        registry = CollectorRegistry()
        gauges = Gauges(registry)
        other = shared_rise(1.2, whole=False, queries=5, causes=(CPU,))
        elsewhere = replace(other, server="db2:9719")
        made = report(
            finding(Level.ALERT),
            finding(Level.ALERT, "2"),
            shared=(shared_rise(), other, elsewhere),
        )
        gauges.show([made], pending=0)
        samples = {
            (s.name, s.labels["server"], s.labels.get("queries")): (
                s.value,
                s.labels.get("severity"),
                s.labels.get("external_cause"),
            )
            for family in registry.collect()
            for s in family.samples
            if s.name.startswith("pgverdict_server_slowed")
        }

        assert samples == {
            ("pgverdict_server_slowed_factor", "db1:9719", "62"): (
                1.4,
                "critical",
                "false",
            ),
            ("pgverdict_server_slowed_factor", "db2:9719", "5"): (
                1.2,
                "critical",
                "true",
            ),
            ("pgverdict_server_slowed_extra_seconds_per_second", "db1:9719", None): (
                0.75,
                None,
                None,
            ),
            ("pgverdict_server_slowed_extra_seconds_per_second", "db2:9719", None): (
                0.75,
                None,
                None,
            ),
        }
        shared = {
            s.labels["queryid"]: s.labels["shared"]
            for family in registry.collect()
            for s in family.samples
            if s.name == "pgverdict_query_regressed"
        }
        assert shared == {"-42": "true", "2": "false"}
