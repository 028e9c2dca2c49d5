"""A long period in short chunks: every sample once, and no more than is needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.backtest.rolling import RollingCounters
from evaluator.errors import IncompleteDataError, NoDataError
from evaluator.model import DataQuality
from evaluator.sources.readings import Reading
from tests.builders import DEPLOY_AT, counters
from tests.queries import batches, interval_means, series_of

# Ten hours of one query, a scrape a minute.
WHOLE = counters(np.full(600, 0.01))
START, END = float(WHOLE.times[0]), float(WHOLE.times[-1])


class Recorder:
    """Answers from *series* and remembers what was asked for."""

    def __init__(self, *series):
        self.series = series
        self.asked = []

    def __call__(self, start, end):
        self.asked.append((start, end))
        cut = [cut_of(one, start, end) for one in self.series]
        known = tuple(one for one in cut if one.times.size)
        if not known:
            raise NoDataError("nothing")
        return Reading(batches(known))


def cut_of(series, start, end):
    inside = (series.times >= start) & (series.times <= end)
    return replace(
        series,
        times=series.times[inside],
        calls=series.calls[inside],
        seconds=series.seconds[inside],
        since=None if series.since is None else series.since[inside],
        squares=None if series.squares is None else series.squares[inside],
    )


def moved(rolling, start, end):
    """The queries one by one."""
    return series_of(Reading(rolling.between(start, end)))


def test_moving_on_gives_the_same_counters_as_reading_at_once():
    rolling = RollingCounters(Recorder(WHOLE), START)

    for at in np.arange(START, END - 7200, 1800):
        (found,) = moved(rolling, at, at + 7200)
        there = cut_of(WHOLE, at, at + 7200)
        assert found.times.tolist() == there.times.tolist()
        assert found.seconds.tolist() == there.seconds.tolist()


def test_every_sample_is_asked_for_once_and_at_most_an_hour_at_a_time():
    read = Recorder(WHOLE)
    rolling = RollingCounters(read, START)

    for at in (START + 3600, START + 5400, START + 9000):
        rolling.between(at, at + 7200)

    starts, ends = zip(*read.asked, strict=True)
    assert starts[1:] == pytest.approx([end + 0.001 for end in ends[:-1]], abs=1e-4)
    assert all(end - start <= 3600 for start, end in read.asked)


def test_what_lies_between_two_moments_far_apart_is_not_read():
    read = Recorder(WHOLE)
    rolling = RollingCounters(read, START)

    rolling.between(START, START + 600)
    rolling.between(END - 600, END)

    assert read.asked == [(START, START + 600), (END - 600, END)]


def test_a_query_that_ended_is_forgotten_but_was_seen():
    early = cut_of(counters(np.full(600, 0.01), queryid="7"), START, START + 600)
    rolling = RollingCounters(Recorder(WHOLE, early), START)

    rolling.between(START, START + 3600)
    found = rolling.between(START + 1800, START + 5400)

    assert [key for batch in found for key in batch.keys] == [WHOLE.key]
    assert rolling.seen == {WHOLE.key, early.key}


def test_a_time_that_is_not_kept_any_more_is_empty_and_not_a_failure():
    rolling = RollingCounters(Recorder(WHOLE), START - 7200)

    (found,) = moved(rolling, START - 7200, START + 600)

    assert found.times[0] == START


def test_a_partial_answer_concludes_nothing():
    warned = Reading(
        batches([WHOLE]), DataQuality(series=1, warnings=("store is down",))
    )
    rolling = RollingCounters(lambda *_: warned, START)

    with pytest.raises(IncompleteDataError, match="store is down"):
        rolling.between(START, END)


def test_a_reset_across_two_chunks_is_still_seen():
    since = np.where(WHOLE.times < START + 3600, 1.0, 2.0)
    rolling = RollingCounters(Recorder(replace(WHOLE, since=since)), START)

    (found,) = interval_means(
        moved(rolling, START, START + 7200), START, START + 7200, max_gap=300
    )

    assert found.dropped["reset"] == 1


def test_when_the_entry_was_made_may_be_unknown_in_some_chunks():
    known = replace(WHOLE, since=np.full(WHOLE.times.shape, 1.0))

    def read(start, end):
        return Recorder(known if start > DEPLOY_AT else WHOLE)(start, end)

    rolling = RollingCounters(read, DEPLOY_AT - 3600)

    (found,) = moved(rolling, DEPLOY_AT - 3600, DEPLOY_AT + 3600)

    assert found.since is not None
    assert np.count_nonzero(np.isnan(found.since)) == 61
    assert np.count_nonzero(found.since == 1.0) == 60


def test_the_squares_of_the_times_come_along():
    known = replace(WHOLE, squares=np.arange(float(WHOLE.times.size)))
    rolling = RollingCounters(Recorder(known), START)

    (found,) = moved(rolling, START, START + 7200)

    assert found.squares is not None
    assert found.squares.tolist() == cut_of(known, START, START + 7200).squares.tolist()
