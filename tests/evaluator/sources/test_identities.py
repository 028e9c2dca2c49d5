"""Which server answered each scrape, and which intervals are dropped for it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluator.engine.prepare.intervals import RESET, USABLE, intervals
from evaluator.sources.captures import Capture
from evaluator.sources.readings import join
from evaluator.sources.series.identities import identities_of

from ..prometheus_answers import PROFILE, calls, matrix, seconds, series
from .test_matrix import decode
from .test_readings import reading

TIMES = [15.0 * place for place in range(20)]


def busy(times=TIMES):
    """A query with a call each second."""
    return [kind(*((at, f"{at + 100}") for at in times)) for kind in (calls, seconds)]


def gauge(name, *samples, **more):
    """One of the gauges about the server."""
    one = series(name, *((at, f"{value}") for at, value in samples))
    one["metric"] = {"__name__": name, "instance": "db1:9719", "job": "x", **more}
    return one


def started(change, *, times=TIMES, old=1.7e9, new=1.65e9):
    """Start time of the server, another one from *change* on."""
    return [
        gauge(PROFILE.started, *((at, old if at < change else new) for at in times))
    ]


def recovery(change, *, times=TIMES):
    return [gauge(PROFILE.recovery, *((at, int(at < change)) for at in times))]


def system(change, *, times=TIMES):
    return [
        gauge(PROFILE.server_info, *samples, system_identifier=name)
        for name, samples in (
            ("7000000000000000001", [(at, 1) for at in times if at < change]),
            ("7000000000000000002", [(at, 1) for at in times if at >= change]),
        )
    ]


def read(*result):
    raw, _ = decode(matrix(*result))
    return join([reading(*result)], identities=identities_of(raw, PROFILE))


def kinds(found):
    (batch,) = found.batches
    return intervals(batch, max_gap=300.0).kinds[0].tolist()


KINDS = pytest.mark.parametrize(
    "changed",
    [
        pytest.param(started, id="start time back"),
        pytest.param(lambda at: started(at, new=1.71e9), id="start time forward"),
        pytest.param(lambda at: started(at, new=1.7e9 + 0.4), id="within a second"),
        pytest.param(system, id="system identifier"),
        pytest.param(recovery, id="recovery state"),
        pytest.param(lambda at: started(at) + recovery(at), id="two gauges"),
        pytest.param(
            lambda at: [
                gauge(PROFILE.started, *((t, 1.7e9) for t in TIMES if t < at), pod="a"),
                gauge(
                    PROFILE.started, *((t, 1.6e9) for t in TIMES if t >= at), pod="b"
                ),
            ],
            id="another pod",
        ),
    ],
)


@KINDS
@pytest.mark.parametrize("place", [1, 7, 19])
def test_an_interval_across_another_server_is_dropped_and_counted(changed, place):
    found = read(*busy(), *changed(TIMES[place]))

    expected = [USABLE] * 19
    expected[place - 1] = RESET
    assert kinds(found) == expected
    assert found.quality.server_changes == 1
    assert "db1:9719: another server answered, or it was restarted" in found.events[0]


@KINDS
def test_without_a_change_nothing_is_dropped(changed):
    found = read(*busy(), *changed(-1.0))

    assert kinds(found) == [USABLE] * 19
    assert found.quality.server_changes == 0
    assert found.events == ()


def test_a_server_that_changes_and_changes_back_is_dropped_each_time():
    values = [1.7e9] * 5 + [1.6e9] * 5 + [1.7e9] * 10
    found = read(*busy(), gauge(PROFILE.started, *zip(TIMES, values, strict=True)))

    assert [place for place, kind in enumerate(kinds(found)) if kind == RESET] == [4, 9]
    assert found.quality.server_changes == 2


def test_a_missing_scrape_at_the_change_costs_the_longer_interval():
    kept = [at for at in TIMES if at != 150.0]

    found = read(*busy(kept), *started(150.0, times=kept))

    assert [one for one in kinds(found) if one != USABLE] == [RESET]


def test_where_the_gauge_alone_is_missing_nothing_across_is_used():
    known = [at for at in TIMES if at not in (150.0, 165.0)]

    found = read(*busy(), *started(150.0, times=known))

    assert [place for place, kind in enumerate(kinds(found)) if kind == RESET] == [
        9,
        10,
        11,
    ]


def test_a_missing_gauge_between_equal_ones_costs_nothing():
    known = [at for at in TIMES if at not in (150.0, 165.0)]

    found = read(*busy(), *started(-1.0, times=known))

    assert kinds(found) == [USABLE] * 19


def test_a_gauge_scraped_by_another_job_at_other_times_is_understood():
    found = read(*busy(), *started(150.0, times=[at + 4.0 for at in TIMES]))

    # Between 139 s and 154 s; both intervals that touch this may be across.
    assert [place for place, kind in enumerate(kinds(found)) if kind == RESET] == [
        9,
        10,
    ]


def test_a_server_without_such_gauges_is_read_as_it_is():
    found = read(*busy())

    assert kinds(found) == [USABLE] * 19
    assert found.batches[0].identity is None


def test_digits_that_a_storage_loses_do_not_make_another_server():
    values = ["1795995948.655583", "1795995948.6555827"] * 10
    found = read(*busy(), gauge(PROFILE.started, *zip(TIMES, values, strict=True)))

    assert kinds(found) == [USABLE] * 19


def test_only_the_server_of_the_gauge_is_concerned():
    other = [
        kind(*((at, f"{at}") for at in TIMES), instance="db2")
        for kind in (calls, seconds)
    ]

    found = read(*busy(), *other, *started(150.0))

    first, second = (intervals(batch, max_gap=300.0) for batch in found.batches)
    assert np.count_nonzero(first.kinds == RESET) == 1
    assert np.all(second.usable)


def test_a_capture_is_read_the_same_way(tmp_path):
    path = tmp_path / "capture.json"
    path.write_text(json.dumps(matrix(*busy(), *system(150.0))))

    found = Capture(str(path), PROFILE).read()

    assert [place for place, kind in enumerate(kinds(found)) if kind == RESET] == [9]


def test_parts_of_a_long_time_know_each_other():
    """The backtest reads an hour after the other and joins them."""
    early, late = TIMES[:10], TIMES[10:]
    found = [
        read(*busy(times), *started(at, times=times))
        for times, at in ((early, 60.0), (late, -1.0))
    ]

    joined = join(found)

    assert [place for place, kind in enumerate(kinds(joined)) if kind == RESET] == [3]
