"""The whole effect of a deploy as Prometheus sees it."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client import CollectorRegistry

from evaluator.model import Level
from evaluator.sinks.gauges import Gauges
from tests.builders import KEY, effects, finding, flood, moved, new_statement

from .test_effects import report


def shown(made):
    registry = CollectorRegistry()
    Gauges(registry).show([made], pending=0)

    def value(name, labels):
        deployed = {"service": "shop", "environment": "", "deploy": "grafana-1"}
        return registry.get_sample_value(f"pgverdict_{name}", labels | deployed)

    return value


def query(queryid):
    return {
        "server": KEY.instance,
        "datname": KEY.database,
        "user": KEY.user,
        "queryid": queryid,
        "toplevel": KEY.toplevel,
    }


def test_every_effect_has_its_numbers():
    value = shown(replace(report(), effects=effects()))

    server = {"server": KEY.instance}
    load = "server_load_seconds_per_second"
    assert value(load, server | {"window": "before"}) == 0.5
    assert value(load, server | {"window": "after"}) == 0.9
    change = "server_load_change_seconds_per_second"
    assert value(change, server | {"part": "more_calls"}) == 0.25
    assert value("query_calls_factor", query("often")) == 25.0
    assert value("query_calls_time_ratio", query("often")) == 0.3
    new = query("new") | {"replaced": "old"}
    assert value("new_statement_time_ratio", new) == 0.4
    assert value("query_improved_factor", query("fast")) == 0.5
    assert value("query_saved_seconds_per_second", query("fast")) == 0.1


def test_what_is_not_notable_has_no_series():
    made = report(floods=(flood(share=0.01),), new=(new_statement(share=0.01),))

    value = shown(made)

    assert value("query_calls_factor", query("often")) is None
    new = query("new") | {"replaced": ""}
    assert value("new_statement_time_ratio", new) is None


def test_a_moved_cost_is_not_a_regression_that_alerts():
    slower = query("-42") | {"external_cause": "false", "shared": "false"}

    alone = shown(report(finding(Level.ALERT)))
    value = shown(report(finding(Level.ALERT), moved=(moved(),)))

    assert alone("query_regressed", slower) == 1
    assert value("query_regressed", slower) is None
