"""The scenes hold what they promise: counters, their equations, and the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.scenes import SCENES, make
from bench.scenes.frame import AT, BEFORE, MINUTE, WINDOW, frame
from bench.scenes.scene import TABLES

SEED = [7]


def example(name, queries=200, **changes):
    return make(replace(SCENES[name], **changes), SEED, queries=queries)


def means(found):
    """(q, n) seconds per call, NaN without calls; and their middles in minutes."""
    batch = found.batch
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.diff(batch.seconds) / np.diff(batch.calls)
    middles = (batch.times[1:] + batch.times[:-1]) / 2.0 - AT
    return values, middles / MINUTE


def log_rise(found, start=0.0, end=30.0):
    """(q,) of the mean log time between two minutes over the half hour before."""
    values, minutes = means(found)
    logs = np.log(values)
    before = np.nanmean(logs[:, (minutes > -30) & (minutes < -0.5)], axis=1)
    return np.nanmean(logs[:, (minutes > start) & (minutes < end)], axis=1) - before


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_counters_over_history_and_both_windows(name):
    batch = example(name, queries=40).batch

    assert batch.calls.shape == (40, batch.times.size)
    assert batch.times[0] <= AT - BEFORE + 5 * MINUTE
    assert batch.times[-1] >= AT + WINDOW - 3 * MINUTE
    assert (np.diff(batch.times) > 0).all()
    for counter in (batch.calls, batch.seconds):
        assert not (np.diff(counter) < 0).any()
        assert np.isfinite(counter).mean() > 0.98


@pytest.mark.parametrize("name", SCENES)
def test_the_same_seed_gives_the_same_counters_and_another_does_not(name):
    scene = SCENES[name]
    first, again, other = (
        make(scene, seed, queries=20) for seed in ([1, 2], [1, 2], [1, 3])
    )

    assert np.array_equal(first.batch.seconds, again.batch.seconds, equal_nan=True)
    assert np.array_equal(first.factors, again.factors)
    assert not np.array_equal(
        first.batch.seconds[:, :200], other.batch.seconds[:, :200]
    )


@pytest.mark.parametrize("name", [name for name in SCENES if name != "gradual"])
def test_the_truth_is_in_the_counters(name):
    """120 queries each: the standard error of a median rise is below .05."""
    found = example(name, queries=1200, regressed=0.1)
    # Late regressions are there after four minutes, a cold start is over after six.
    rise = log_rise(found, start=6.5)
    usual = np.median(rise[found.factors == 1.0])

    for factor in (1.5, 2.0):
        assert np.count_nonzero(found.factors == factor) == 120
        slower = np.median(rise[found.factors == factor])
        assert slower - usual == pytest.approx(np.log(factor), abs=0.2)


def test_gradual_regressions_are_half_there_in_the_middle():
    found = example("gradual", queries=1200, regressed=0.1)
    double = found.factors == 2.0

    assert np.median(log_rise(found, 3.0, 5.0)[double]) == pytest.approx(
        np.log(1.5), abs=0.1
    )
    assert np.median(log_rise(found, 8.0)[double]) == pytest.approx(
        np.log(2.0), abs=0.1
    )


def test_one_in_a_hundred_is_slower_by_half_and_one_twice_as_slow():
    found = example("quiet", queries=1000)

    values, counts = np.unique(found.factors, return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {
        1.0: 980,
        1.5: 10,
        2.0: 10,
    }


def test_whole_tables_regress_where_one_table_is_hit():
    found = example("one table", queries=1000)

    assert np.count_nonzero(found.factors > 1.0) == 2 * 1000 / TABLES


def test_queries_of_one_group_move_together_and_others_do_not():
    values, _ = means(example("2 groups", queries=60, regressed=0.0))
    logs = np.log(values)
    # Means of ten minutes, so that the noise of each query averages out.
    smooth = logs[:, :290].reshape(60, 29, 10).mean(axis=2)
    together = np.corrcoef(smooth)[np.triu_indices(60, 1)]

    assert np.quantile(together, 0.8) > 0.4
    assert np.quantile(together, 0.2) < 0.35


def test_the_hourly_cycle_has_its_period():
    values, _ = means(example("hourly cycle", queries=200, regressed=0.0))
    logs = np.log(values)
    logs -= np.nanmean(np.where(np.isfinite(logs), logs, np.nan), axis=1, keepdims=True)
    an_hour, half_an_hour = (
        np.nanmean(logs[:, :240] * logs[:, lag : 240 + lag]) for lag in (60, 30)
    )

    assert an_hour == pytest.approx(0.3**2 / 2.0, rel=0.3)
    assert half_an_hour == pytest.approx(-(0.3**2) / 2.0, rel=0.3)


def test_the_ramp_trebles_the_traffic():
    found = example("traffic ramp", queries=300)
    calls = np.diff(found.batch.calls).sum(axis=0)
    _, minutes = means(found)
    usual = calls[minutes < -15].mean()

    assert calls[minutes > 28].mean() / usual == pytest.approx(2.9, abs=0.5)


def test_after_a_restart_queries_are_slow_for_minutes_and_the_start_is_known():
    found = example("restart", queries=300, regressed=0.0)
    (starts,) = found.surroundings.starts

    assert np.median(log_rise(found, 0.0, 3.5)) > np.log(1.3)
    assert np.median(log_rise(found, 7.0)) == pytest.approx(0.0, abs=0.05)
    assert starts.values[-1] == pytest.approx(AT)
    assert starts.values[0] < AT - 86_400


@pytest.mark.parametrize(
    ("name", "earliest", "latest"),
    [("backup near", 8.0, 15.0), ("backup through", 20.0, 90.0)],
)
def test_a_backup_begins_away_from_the_deploy_and_shows_on_the_disk(
    name, earliest, latest
):
    found = example(name, queries=20)
    (disk,) = found.surroundings.context
    begins = (disk.times[np.argmax(disk.values > 0.4)] - AT) / MINUTE

    assert earliest - 1.5 <= abs(begins) <= latest + 1.5


def test_nothing_is_scraped_during_the_outage():
    gaps = np.diff(example("outage", queries=5).batch.times)

    assert 3 * MINUTE < gaps.max() < 9 * MINUTE
    assert np.count_nonzero(gaps > 1.5 * MINUTE) == 1


def test_single_scrapes_and_samples_are_missing():
    batch = example("missed scrapes").batch
    gaps = np.diff(batch.times)

    assert 2 <= np.count_nonzero(gaps > 1.5 * MINUTE) <= 25
    assert np.isnan(batch.calls).mean() == pytest.approx(0.01, abs=0.005)
    assert gaps.std() > 1.0


@pytest.mark.parametrize("step", [15.0, 30.0])
def test_other_scrape_intervals_have_the_same_noise_a_minute(step):
    """The standard deviation of a minute's mean does not hang on the interval."""
    shorter = example(f"{step:.0f} s scrapes", queries=400, regressed=0.0)
    spans = []
    for found, per_minute in ((shorter, round(60 / step)), (example("quiet", 400), 1)):
        batch = found.batch
        every = slice(None, None, per_minute)
        values = np.diff(batch.seconds[:, every]) / np.diff(batch.calls[:, every])
        spans.append(np.median(np.std(np.log(values), axis=1)))

    assert np.median(np.diff(shorter.batch.times)) == step
    assert spans[0] == pytest.approx(spans[1], rel=0.15)


def test_few_calls_are_few():
    calls = np.diff(example("few calls").batch.calls)

    assert 4.0 <= np.median(calls) <= 20.0
    # Most queries pass the floor of 100 calls in half an hour.
    assert np.mean(calls[:, :30].sum(axis=1) >= 100) > 0.9


def test_two_plans_are_two_levels():
    values, _ = means(example("two plans", queries=300, regressed=0.0))
    logs = np.log(values)
    rises = np.quantile(logs, 0.9, axis=1) - np.quantile(logs, 0.2, axis=1)

    assert np.median(rises) > np.log(1.8)


@pytest.mark.parametrize("name", ["locks", "vacuum", "checkpoints", "cron"])
def test_an_event_slows_some_minutes_and_most_not(name):
    rng = np.random.default_rng(SEED)
    place = frame(rng, 200, step=60.0)
    time = np.broadcast_to(SCENES[name].happens(rng, place).time, (200, place.t))

    assert time.min() >= 1.0
    assert 0.005 < np.mean(time > 1.1) < 0.4
    assert np.median(time) < 1.05


def test_earlier_deploys_leave_other_levels_and_none_near_the_deploy():
    found = example("earlier deploys", queries=1000, regressed=0.0)
    values, minutes = means(found)
    logs = np.log(values)
    moved = np.abs(
        logs[:, minutes < -250].mean(axis=1)
        - logs[:, (minutes > -30) & (minutes < 0)].mean(axis=1)
    )
    near = np.abs(log_rise(found))

    assert np.quantile(moved, 0.95) > np.quantile(near, 0.95) + 0.05
