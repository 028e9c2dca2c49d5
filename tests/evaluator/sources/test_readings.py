"""Which scrapes of which series count."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import SourceError
from evaluator.model import QueryKey
from evaluator.sources.api import quoted
from evaluator.sources.matrix import decode_matrix
from evaluator.sources.profiles import PROFILES, Profile
from evaluator.sources.readings import Reading, join, pair
from evaluator.transport.answers import Answer
from tests.queries import series_of

from ..prometheus_answers import blocks, calls, matrix, rows, seconds, since, squares

PROFILE = PROFILES["pgverdict"]
ALWAYS = (float("-inf"), float("inf"))


def reading(*result, start=ALWAYS[0], end=ALWAYS[1], profile=PROFILE) -> Reading:
    raw, _ = decode_matrix(Answer(msgspec.json.encode(matrix(*result)), "here"))
    return pair(raw, profile, start, end, "here")


def test_both_counters_of_a_query_come_side_by_side():
    (one,) = series_of(
        reading(calls((10, "5"), (20, "7")), seconds((10, "0.5"), (20, "0.75")))
    )

    assert one.key == QueryKey("db1:9719", "shop", "app", "1", "true")
    assert one.times.tolist() == [10, 20]
    assert one.calls.tolist() == [5, 7]
    assert one.seconds.tolist() == [0.5, 0.75]
    assert one.since is None


def test_a_scrape_that_stored_one_counter_only_is_counted_and_not_used():
    found = reading(
        calls((10, "5"), (20, "7"), (30, "9")),
        seconds((10, "0.5"), (30, "1"), (40, "2")),
    )

    assert series_of(found)[0].times.tolist() == [10, 30]
    assert found.quality.lone_samples == 2


@pytest.mark.parametrize("broken", ["NaN", "+Inf", "-Inf"])
def test_a_value_that_is_not_a_number_is_never_used(broken):
    found = reading(
        calls((10, "5"), (20, broken), (30, "9")),
        seconds((10, "1"), (20, "2"), (30, "3")),
    )

    assert series_of(found)[0].times.tolist() == [10, 30]
    assert found.quality.lone_samples == 1


def test_a_query_with_one_counter_only_stays_as_a_query_without_samples():
    found = reading(calls((10, "5"), (20, "7")))

    assert series_of(found)[0].times.size == 0
    assert found.quality.series == 0
    assert found.quality.lone_samples == 2
    assert found.first is None


def test_both_ends_of_the_time_belong_to_it():
    samples = [(1.0, "1"), (2.0, "2"), (3.0, "3"), (4.0, "4")]

    found = reading(calls(*samples), seconds(*samples), start=2, end=3)

    assert series_of(found)[0].times.tolist() == [2, 3]
    assert (found.first, found.last) == (2, 3)


@given(
    at=st.integers(1_700_000_000_000, 1_900_000_000_000), window=st.integers(1, 10**8)
)
def test_the_ends_are_compared_in_whole_milliseconds(at, window):
    times = [at - window + edge for edge in (-1, 0, 2 * window, 2 * window + 1)]
    samples = [(time / 1000, "1") for time in times]

    start, end = at / 1000 - window / 1000, at / 1000 + window / 1000
    found = reading(calls(*samples), seconds(*samples), start=start, end=end)

    assert series_of(found)[0].times.tolist() == [time / 1000 for time in times[1:3]]


def test_the_age_of_the_entry_is_aligned_and_unknown_where_absent():
    samples = [(10, "1"), (20, "2"), (30, "3")]

    found = reading(
        calls(*samples), seconds(*samples), since((10, "7"), (30, "NaN"), (40, "8"))
    )

    np.testing.assert_array_equal(series_of(found)[0].since, [7, np.nan, np.nan])


def test_an_age_with_other_last_digits_is_the_same_age():
    samples = [(at, str(at)) for at in (10, 20, 30, 40)]
    # As VictoriaMetrics answered them for an entry that was not made anew.
    ages = ("1795995948.655583", "1795995948.6555827", "1795995948.655583")

    found = reading(
        calls(*samples),
        seconds(*samples),
        since(*zip((10, 20, 30, 40), (*ages, "1795995999.1"), strict=True)),
    )

    first = float(ages[0])
    told = series_of(found)[0].since
    assert told is not None
    assert told.tolist() == [first, first, first, 1795995999.1]


def test_the_squares_of_the_times_are_aligned_and_in_square_seconds():
    samples = [(10, "1000"), (20, "2000"), (30, "3000")]
    milliseconds = replace(PROFILE, seconds_per_unit=1e-3)

    (one,) = series_of(
        reading(
            calls(*samples),
            seconds(*samples),
            squares((10, "1000000"), (30, "9000000")),
            profile=milliseconds,
        )
    )

    assert one.squares == pytest.approx([1.0, np.nan, 9.0], nan_ok=True)


def test_rows_and_blocks_are_aligned_and_unknown_where_absent():
    samples = [(10, "1"), (20, "2"), (30, "3")]

    (one,) = series_of(
        reading(
            calls(*samples),
            seconds(*samples),
            rows((10, "7"), (30, "9"), (40, "11")),
            *blocks(
                hit=[(10, "5"), (20, "6"), (30, "7")], read=[(10, "1"), (20, "NaN")]
            ),
        )
    )

    np.testing.assert_array_equal(one.rows, [7, np.nan, 9])
    np.testing.assert_array_equal(one.blocks, [6, np.nan, np.nan])


def test_blocks_are_unknown_without_both_of_their_counters():
    hit = blocks(hit=[(10, "5")], read=[])[0]

    (one,) = series_of(reading(calls((10, "1")), seconds((10, "1")), hit))

    assert one.blocks is None
    assert one.rows is None


def test_rows_alone_are_not_query():
    assert series_of(reading(rows((10, "1")))) == []


def test_ambiguous_rows_are_noted_and_left_out():
    found = reading(
        calls((10, "5")), seconds((10, "1")), rows((10, "1")), rows((10, "2"), job="x")
    )

    assert series_of(found)[0].rows is None
    assert found.notes == (
        "here: two series of pg_stat_statements_rows_total would be the same query; "
        "they differ in job ('postgres' and 'x'); choose one with the selector, "
        'for example job="postgres"; until then it is not used',
    )


def test_an_exporter_in_milliseconds_is_read_in_seconds():
    profile = Profile(PROFILE.calls, PROFILE.seconds, seconds_per_unit=0.001)

    found = reading(calls((10, "5")), seconds((10, "1500")), profile=profile)

    assert series_of(found)[0].seconds.tolist() == [1.5]


def test_a_label_that_the_exporter_does_not_write_is_empty():
    profile = Profile(PROFILE.calls, PROFILE.seconds, toplevel="nested")

    found = reading(calls((10, "5")), seconds((10, "1")), profile=profile)

    assert series_of(found)[0].key.toplevel == ""


def test_queries_come_in_the_order_of_their_keys():
    result = [
        kind((10, "1"), queryid=one) for one in "312" for kind in (calls, seconds)
    ]

    assert [one.key.queryid for one in series_of(reading(*result))] == ["1", "2", "3"]


def test_other_metrics_in_the_answer_are_left_out():
    other = {"metric": {"__name__": "up"}, "values": [[10, "1"]]}

    assert series_of(reading(other, since((10, "1")))) == []


def test_two_series_of_one_query_are_refused_with_the_label_to_choose_by():
    with pytest.raises(SourceError) as caught:
        reading(calls((10, "5")), calls((10, "6"), job="other"), seconds((10, "1")))

    assert str(caught.value) == (
        "here: two series of pg_stat_statements_calls_total would be the same query; "
        "they differ in job ('postgres' and 'other'); choose one with the selector, "
        'for example job="postgres"'
    )


def test_two_series_of_one_query_at_other_times_do_no_harm():
    old = calls((1, "5"), job="before")

    found = reading(old, calls((10, "5")), seconds((10, "1")), start=10, end=20)

    assert found.quality.series == 1


def test_the_same_series_twice_with_other_values_is_refused():
    with pytest.raises(SourceError, match="is there twice, with different values"):
        reading(calls((10, "5")), calls((10, "6")))


def test_joined_readings_keep_every_query_and_tell_each_warning_once():
    one = join([reading(calls((10, "1")), seconds((10, "1"), (15, "1")))], ["a", "b"])
    two = join(
        [reading(calls((5, "1"), queryid="0"), seconds((5, "1"), queryid="0"))], ["a"]
    )

    both = join([one, two], ["c"], ["d"])

    assert [part.key.queryid for part in series_of(both)] == ["0", "1"]
    assert both.quality.warnings == ("c", "a", "b")
    assert (both.quality.series, both.quality.lone_samples) == (2, 1)
    assert both.notes == ("d",)
    assert (both.first, both.last) == (5, 10)


values = st.floats(allow_nan=True, allow_infinity=True)
stored = st.dictionaries(st.integers(1, 40), values, max_size=20)


@given(calls_at=stored, seconds_at=stored, ends=st.tuples(*[st.integers(0, 41)] * 2))
def test_no_scrape_is_invented_and_none_that_stored_both_is_lost(
    calls_at, seconds_at, ends
):
    def samples(stored):
        return [(time, text(value)) for time, value in sorted(stored.items())]

    start, end = sorted(ends)
    found = reading(
        calls(*samples(calls_at)), seconds(*samples(seconds_at)), start=start, end=end
    )

    good = [
        {t for t, v in one.items() if np.isfinite(v) and start <= t <= end}
        for one in (calls_at, seconds_at)
    ]
    times = [t for one in series_of(found) for t in one.times]
    assert times == sorted(good[0] & good[1])
    assert found.quality.lone_samples == len(good[0] ^ good[1])
    for one in series_of(found):
        assert one.calls.tolist() == [calls_at[t] for t in one.times]
        assert one.seconds.tolist() == [seconds_at[t] for t in one.times]


def text(value: float) -> str:
    """As Go's strconv writes a float."""
    return {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}.get(str(value), repr(value))


def test_a_promql_string_is_escaped():
    assert quoted('a"b\\c\nd') == '"a\\"b\\\\c\\nd"'
