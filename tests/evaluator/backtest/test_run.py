"""The backtest: which moments, what counts as a false alarm, how sure the rates are."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from evaluator.backtest.rolling import RollingCounters
from evaluator.backtest.run import Plan, Tally, judge_moments, plan
from evaluator.model import Settings
from evaluator.model.backtest import BacktestReport
from evaluator.sinks.backtest import to_json, to_table
from tests.builders import DEPLOY_AT, counters, noise
from tests.evaluator.backtest.test_rolling import Recorder

HOUR = 3600.0
SETTINGS = Settings(history=7200.0)
ENGINES = ("calibrated", "classic")


def history(queries=30, hours=16, cv=0.3, seed=1, calls=40.0):
    """Unchanged queries, a scrape a minute, around DEPLOY_AT."""
    rng = np.random.default_rng(seed)
    return [
        counters(0.01 * noise(rng, 60 * hours, cv), calls, queryid=f"{number:03d}")
        for number in range(queries)
    ]


def check(series, engines=ENGINES, settings=SETTINGS, every=HOUR, **more):
    """Judge twelve hours around DEPLOY_AT."""
    moments = plan(DEPLOY_AT - 5 * HOUR, DEPLOY_AT + 7 * HOUR, every, 1800.0, ())
    rolling = RollingCounters(Recorder(*series), moments.moments[0] - settings.history)
    tally = Tally(moments, settings, engines)
    for moment in judge_moments(moments.moments, rolling, settings, engines, **more):
        tally.add(moment)
    return tally.report(rolling.seen)


def result(report: BacktestReport, engine: str):
    (found,) = [result for result in report.engines if result.engine == engine]
    return found


def test_moments_count_back_from_the_last():
    planned = plan(1000.0, 8000.0, 3000.0, 1800.0, ())

    assert planned == Plan((2000.0, 5000.0, 8000.0), 3000.0, 0)


def test_moments_less_than_a_window_from_a_deploy_are_left_out():
    planned = plan(0.0, 20_000.0, 2000.0, 1800.0, [4000.0, 10_200.0, 99_999.0])

    assert planned.near_deploys == 2
    assert {4000.0, 10_000.0} & {*planned.moments} == set()
    assert {2000.0, 6000.0, 8000.0, 12_000.0} <= {*planned.moments}


def test_a_quiet_history_has_no_false_alarm():
    report = check(history(cv=0.02))

    assert [result.false_alarms for result in report.engines] == [0, 0]
    assert report.judged == 13
    assert result(report, "classic").judged == 13 * 30


def test_no_false_alarm_in_few_moments_does_not_prove_that_there_are_none():
    """The upper end of 0 of 13 is 1 − 0.025^(1/13), and of 0 events 3.69."""
    found = result(check(history(cv=0.02)), "calibrated")

    assert found.share.value == 0.0
    assert found.share.high == pytest.approx(1 - 0.025 ** (1 / 13))
    assert found.per_thousand.high == pytest.approx(3.689 / 0.390, rel=1e-3)


@pytest.mark.statistical
def test_noise_gives_the_classic_engine_more_false_alarms():
    report = check(history(queries=150, cv=0.5))

    classic, calibrated = result(report, "classic"), result(report, "calibrated")
    assert classic.false_alarms > 10 * max(1, calibrated.false_alarms)
    assert classic.per_thousand.low <= classic.per_thousand.value
    assert classic.per_thousand.value == pytest.approx(
        1000 * classic.false_alarms / classic.judged
    )


def test_a_change_that_nobody_marked_is_a_false_alarm_and_is_named():
    changed = counters(
        np.where(np.arange(960) < 480, 0.01, 0.02), queryid="changed", at=DEPLOY_AT
    )

    report = check([*history(cv=0.02), changed])

    assert {(alarm.engine, alarm.at) for alarm in report.false_alarms} == {
        ("calibrated", DEPLOY_AT),
        ("classic", DEPLOY_AT),
    }
    assert {alarm.key.queryid for alarm in report.false_alarms} == {"changed"}
    assert "×2.00  app@shop on db1:9719, queryid changed" in to_table(report)


@pytest.mark.statistical
def test_a_false_alarm_at_an_early_look_counts_once():
    """Twice as slow for twelve minutes: the first look sees it, the last may not."""
    means = np.full(960, 0.01)
    means[480:492] = 0.02
    series = [*history(cv=0.02), counters(means, queryid="spike", at=DEPLOY_AT)]

    once = check(series, engines=("calibrated",))
    looking = check(series, engines=("calibrated",), looks=True)

    assert (
        result(once, "calibrated").false_alarms
        <= result(looking, "calibrated").false_alarms
    )
    assert [alarm.key.queryid for alarm in looking.false_alarms] == ["spike"]


@pytest.mark.statistical
def test_moments_that_share_samples_are_worth_less():
    sparse, dense = (
        result(check(history(cv=0.02), every=every), "classic")
        for every in (HOUR, HOUR / 4)
    )

    assert dense.moments == 4 * sparse.moments - 3
    assert dense.dispersion == 4.0
    assert dense.share.high == pytest.approx(sparse.share.high, rel=0.1)


def test_the_noisiest_query_comes_first_with_the_factor_it_hides():
    loud = counters(0.01 * noise(np.random.default_rng(2), 960, cv=3.0), queryid="loud")

    report = check([*history(cv=0.05), loud])

    first, second = report.noise[:2]
    assert first.key.queryid == "loud"
    assert first.detectable_factor["calibrated"] > 2.0
    assert second.detectable_factor["calibrated"] < 2.0
    assert "one time in five): calibrated 1, classic 1\n" in to_table(report)


def test_the_standard_deviation_is_that_of_the_log_factors():
    """Each window's mean of 30 has 0.3/√30, and the factor √2 times as much."""
    report = check(history(queries=60))

    typical = np.median([query.log_factor_sd for query in report.noise])
    assert typical == pytest.approx(0.3 * np.sqrt(2 / 30), rel=0.15)


def test_queries_without_enough_calls_are_counted_apart_from_quiet_ones():
    report = check([*history(queries=5, cv=0.02), *history(1, calls=1.0, seed=9)][1:])

    assert report.queries == 5
    assert report.never_judged == 1
    assert "5 queries, of which never with enough calls: 1\n" in to_table(report)


def test_moments_without_any_judgement_are_counted_apart():
    report = check(history(queries=2, hours=6, cv=0.02))

    assert report.empty == 8
    assert result(report, "classic").moments == 5
    assert "8 without a query that had enough data" in to_table(report)


def test_nothing_judged_is_unknown_and_not_zero():
    report = check(history(queries=2, calls=1.0))

    assert result(report, "classic").share is None
    assert result(report, "classic").per_thousand is None
    line = to_table(report).splitlines()[3]
    assert re.sub(r"\s+", " ", line.strip()).startswith("0 0 unknown unknown 0 0")


def test_what_was_cut_short_says_so():
    moments = plan(DEPLOY_AT - 5 * HOUR, DEPLOY_AT + 7 * HOUR, HOUR, 1800.0, ())
    rolling = RollingCounters(
        Recorder(*history(cv=0.02)), moments.moments[0] - SETTINGS.history
    )
    tally = Tally(moments, SETTINGS, ENGINES)
    judged = judge_moments(moments.moments, rolling, SETTINGS, ENGINES)
    for _ in range(3):
        tally.add(next(judged))

    report = tally.report(rolling.seen)

    assert to_table(report).startswith("backtest: 3 moments of 13 planned")
    assert json.loads(to_json(report))["complete"] is False
    assert report.end == moments.moments[2]


def test_the_json_holds_everything():
    document = json.loads(to_json(check(history(cv=0.3))))

    assert document["complete"] is True
    assert [result["engine"] for result in document["engines"]] == [
        "calibrated",
        "classic",
    ]
    assert len(document["noise"]) == 30
    assert {*document["engines"][0]["share"]} == {"value", "low", "high"}


@pytest.mark.statistical
def test_the_calibrated_engine_keeps_its_promise_on_unchanged_queries():
    """5 % of moments at most: of 26, 6 or more have a chance of 0.2 %."""
    alarmed = sum(
        result(check(history(100, cv=cv, seed=seed)), "calibrated").alarmed
        for cv, seed in ((0.3, 11), (0.5, 12))
    )

    assert alarmed < 6
