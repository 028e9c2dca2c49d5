"""A server, or a group of queries, that slows down at once is one finding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.engine import judge
from evaluator.model import ContextSeries, Floats, Settings, Severity, Surroundings
from tests.builders import DEPLOY_AT, KEY, Counters, deploy, key
from tests.queries import batches

MINUTES = np.arange(-270, 30)
SCRAPES = np.array([DEPLOY_AT + 60.0 * minute for minute in range(-270, 31)])
COUNT = 120


def server(factors, *, group=None, seed=3, rate=4.0):
    """Queries of one server, each slower by its factor since the deploy.

    Args:
        factors: after over before, one for each query.
        group: those that share a wave before the deploy, too.
    """
    rng = np.random.default_rng(seed)
    path = 0.4 * np.sin(MINUTES / 12.0) + 0.3 * np.sin(MINUTES / 19.0)
    series = []
    for number in range(len(factors)):
        shared = path if group is not None and number in group else 0.0
        logs = rng.normal(0.0, 0.12, MINUTES.size) + shared
        means = 0.005 * np.exp(logs) * np.where(MINUTES < 0, 1.0, factors[number])
        calls = rng.poisson(60.0 * rate, MINUTES.size).astype(float)
        series.append(
            Counters(
                key(f"{number:03}"),
                SCRAPES,
                _summed(calls),
                _summed(calls * means),
            )
        )
    return series


def _summed(values: Floats) -> Floats:
    sums: Floats = np.concatenate([[0.0], np.cumsum(values)])
    return sums


def judged(series, context=(), **settings):
    around = Surroundings(context=context)
    return judge(batches(series), deploy(), Settings(**settings), around)


def cpu(at):
    """A measure that jumps *at* minutes from the deploy."""
    values: Floats = np.where(at > MINUTES, 0.2, 0.9)
    return ContextSeries("cpu", "", SCRAPES[:-1], values)


def test_a_server_that_slows_down_is_one_finding_with_its_cost():
    factors = np.full(COUNT, 1.4)

    verdicts = judged(server(factors))
    (rise,) = verdicts.effects.shared

    assert rise.whole
    assert rise.server == KEY.instance
    assert rise.queries > 0.95 * COUNT
    assert rise.factor.value == pytest.approx(1.4, rel=0.05)
    assert rise.factor.low < rise.factor.value < rise.factor.high
    # 120 queries, 4 calls a second, 2 ms more each.
    assert rise.extra_seconds_per_second == pytest.approx(0.96, rel=0.1)
    assert rise.severity is Severity.CRITICAL
    assert rise.largest_before < 1.15
    assert rise.moments > 100
    detected = {v.key for v in verdicts if v.outcome == "detected"}
    assert len(detected) > 100
    assert set(rise.explained) <= detected
    assert len(rise.explained) > 0.9 * len(detected)
    assert not rise.external_cause


def test_a_query_that_rises_beyond_it_is_not_explained():
    factors = np.full(COUNT, 1.4)
    factors[7] = 4.0

    (rise,) = judged(server(factors)).effects.shared

    assert key("007") not in rise.explained
    assert len(rise.explained) > 80


def test_a_small_one_is_a_warning_by_what_it_costs():
    (rise,) = judged(server(np.full(COUNT, 1.4), rate=0.5)).effects.shared

    assert rise.severity is Severity.WARNING
    (loud,) = judged(
        server(np.full(COUNT, 1.4), rate=0.5), critical_factor=1.3
    ).effects.shared
    assert loud.severity is Severity.CRITICAL


def test_a_group_that_moves_together_is_named_as_a_group():
    group = set(range(0, COUNT, 3))
    factors = np.where([number in group for number in range(COUNT)], 1.6, 1.0)

    rises = judged(server(factors, group=group)).effects.shared

    (rise,) = rises
    assert not rise.whole
    assert 0.8 * len(group) <= rise.queries <= 1.2 * len(group)
    assert rise.factor.value == pytest.approx(1.6, rel=0.15)


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_without_a_rise_that_matters_there_is_no_finding(factor):
    assert judged(server(np.full(COUNT, factor))).effects.shared == ()


def test_twenty_queries_and_an_hour_of_history_are_enough_for_a_whole_server():
    few = [
        replace(
            one,
            times=one.times[210:],
            calls=one.calls[210:],
            seconds=one.seconds[210:],
        )
        for one in server(np.full(24, 1.5), seed=5)
    ]

    (rise,) = judged(few, window=900.0).effects.shared

    assert rise.whole
    assert rise.queries >= 22
    assert rise.factor.value == pytest.approx(1.5, rel=0.1)


def test_a_few_slower_queries_are_not_a_shared_rise():
    factors = np.ones(COUNT)
    factors[:10] = 2.0

    assert judged(server(factors)).effects.shared == ()


@pytest.mark.parametrize(("at", "external"), [(-4, True), (0, False), (3, False)])
def test_only_a_measure_that_moved_first_speaks_for_another_cause(at, external):
    (rise,) = judged(server(np.full(COUNT, 1.5)), [cpu(at)]).effects.shared

    assert rise.external_cause == external
