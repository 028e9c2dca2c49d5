"""Series of one query under several label sets: one query, or a clear refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import SourceError
from evaluator.sources.matrix import once
from tests.queries import series_of

from ..prometheus_answers import calls, matrix, rows, seconds, since
from .test_matrix import decode
from .test_readings import reading


def both(*samples, **more):
    """Calls and seconds at the same times, a tenth of a second for each call."""
    return [
        calls(*((at, f"{value}") for at, value in samples), **more),
        seconds(*((at, f"{value / 10}") for at, value in samples), **more),
    ]


def steps(first, last, start, *, every=15.0, rise=3):
    """(time, calls) from *first* to *last*."""
    times = np.arange(first, last + 0.1, every)
    return [(float(at), start + rise * n) for n, at in enumerate(times)]


@pytest.mark.parametrize("label", ["pod", "job", "container_id", "node", "a.b"])
def test_a_label_that_changes_between_two_scrapes_does_not_split_a_query(label):
    old, new = steps(0, 150, 100), steps(165, 300, 133)

    (one,) = series_of(
        reading(*both(*old, **{label: "x"}), *both(*new, **{label: "y"}))
    )

    assert one.times.tolist() == [at for at, _ in old + new]
    assert one.calls.tolist() == [value for _, value in old + new]


def test_the_order_in_which_the_series_come_does_not_matter():
    parts = [
        both(*steps(150.0 * n, 150.0 * n + 135, 30 * n), pod=f"p{n}") for n in range(3)
    ]

    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        (one,) = series_of(reading(*(s for n in order for s in parts[n])))

        assert one.times.size == 30
        assert np.all(np.diff(one.calls) == 3)


def test_many_pods_in_a_row_are_one_query_with_all_its_columns():
    result = []
    for number in range(8):
        samples = steps(1000.0 * number, 1000.0 * number + 900, 1000 * number)
        pod = {"pod": f"p{number}"}
        result += both(*samples, **pod)
        result.append(since(*((at, "7") for at, _ in samples), **pod))
        result.append(rows(*((at, f"{value}") for at, value in samples), **pod))

    (one,) = series_of(reading(*result))

    assert one.times.size == 8 * 61
    assert one.since is not None
    assert one.rows is not None
    assert set(one.since.tolist()) == {7}
    assert one.rows.tolist() == one.calls.tolist()


def test_a_handover_within_one_scrape_interval_costs_nothing():
    (one,) = series_of(
        reading(*both((0, 1), (15, 2), pod="a"), *both((17, 2), (32, 3), pod="b"))
    )

    assert one.times.tolist() == [0, 15, 17, 32]


def test_a_counter_that_starts_lower_after_the_handover_stays_as_it_is():
    (one,) = series_of(
        reading(*both((0, 50), (15, 60), pod="a"), *both((30, 5), (45, 8), pod="b"))
    )

    assert one.calls.tolist() == [50, 60, 5, 8]


def test_pods_that_overlap_for_a_few_scrapes_of_one_server_are_one_query():
    old, new = steps(0, 330, 0), steps(307, 600, 61)

    (one,) = series_of(reading(*both(*old, pod="a"), *both(*new, pod="b")))

    assert one.times.tolist() == [at for at, _ in old if at < 307] + [
        at for at, _ in new
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(steps(0, 330, 0), steps(307, 600, 900), id="another server"),
        pytest.param(steps(0, 330, 900), steps(307, 600, 0), id="a lower counter"),
        pytest.param(steps(0, 600, 0), steps(7, 607, 1), id="side by side"),
        pytest.param(steps(0, 600, 0), steps(207, 400, 41), id="one within the other"),
        pytest.param(steps(0, 600, 0), steps(0, 600, 1), id="other values"),
    ],
)
def test_series_that_overlap_with_other_values_are_refused(old, new):
    with pytest.raises(SourceError, match="would be the same query; they differ in"):
        reading(*both(*old, pod="a"), *both(*new, pod="b"))


def test_series_with_the_same_samples_count_once():
    samples = steps(0, 600, 0)

    (one,) = series_of(
        reading(*both(*samples[:30], replica="a"), *both(*samples[10:], replica="b"))
    )

    assert one.calls.tolist() == [value for _, value in samples]


def test_a_pod_that_is_gone_is_never_proposed():
    gone = both(*steps(0, 300, 0), job="z", pod="a")
    alive = [
        both(*steps(315.0 + offset, 900, 60 + offset), job=job, pod=pod)
        for offset, job, pod in ((0, "new", "b"), (4, "other", "c"))
    ]

    for order in ([gone, *alive], [*alive, gone], [alive[1], gone, alive[0]]):
        with pytest.raises(SourceError) as caught:
            reading(*(s for part in order for s in part))

        said = str(caught.value)
        example = said.rpartition("for example ")[2]
        assert example in ('job="new"', 'job="other"')


def test_the_one_that_still_has_samples_is_proposed():
    with pytest.raises(SourceError, match='for example pod="b"'):
        reading(*both(*steps(0, 600, 0), pod="a"), *both(*steps(7, 907, 5), pod="b"))


def test_a_label_that_is_not_plain_is_quoted_in_the_proposal():
    with pytest.raises(SourceError, match=r'for example "k8s\.cluster"="eu"'):
        reading(
            *both(*steps(0, 600, 0), **{"k8s.cluster": "eu"}),
            *both(*steps(7, 600, 0), **{"k8s.cluster": "us"}),
        )


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.randoms())
def test_however_a_series_is_cut_into_pods_it_comes_back(lengths, order):
    samples = steps(0, 15.0 * (sum(lengths) - 1), 10)
    result, begin = [], 0
    for number, length in enumerate(lengths):
        result.append(both(*samples[begin : begin + length], pod=f"p{number}"))
        begin += length
    order.shuffle(result)

    (one,) = series_of(reading(*(s for part in result for s in part)))

    assert one.calls.tolist() == [value for _, value in samples]


def test_equal_samples_at_one_time_count_once():
    samples = [(1.0, "1"), (2.0, "2"), (2.0, "2"), (2.0, "2"), (3.0, "NaN"), (3.0, "4")]

    ((series,), _) = decode(matrix(calls(*samples)))

    assert series.times.tolist() == [1, 2, 3]
    assert series.values.tolist() == [1, 2, 4]
    assert series.conflicts == 0


def test_different_samples_at_one_time_are_dropped_and_counted():
    found = reading(
        calls((10, "5"), (20, "7"), (20, "8"), (30, "9")),
        seconds((10, "1"), (20, "2"), (20, "2"), (30, "3")),
    )

    assert series_of(found)[0].times.tolist() == [10, 30]
    assert found.quality.conflicting_samples == 1
    assert found.quality.lone_samples == 1


def test_a_value_that_a_storage_rounded_twice_is_one_value():
    ((series,), _) = decode(
        matrix(calls((1.0, "1795995948.655583"), (1.0, "1795995948.6555827")))
    )

    assert series.conflicts == 0
    assert series.times.tolist() == [1]


samples = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([1.0, 2.0, float("nan")])), min_size=1
)


@given(samples)
def test_each_time_comes_once_with_the_only_number_it_had(pairs):
    pairs.sort(key=lambda pair: pair[0])
    times = np.array([at for at, _ in pairs], dtype=float)

    kept, values, conflicts = once(times, np.array([value for _, value in pairs]))

    numbers = {
        at: {value for time, value in pairs if time == at and value == value}
        for at in times.tolist()
    }
    assert kept.tolist() == [at for at, found in numbers.items() if len(found) < 2]
    assert conflicts == sum(len(found) > 1 for found in numbers.values())
    for at, value in zip(kept.tolist(), values.tolist(), strict=True):
        assert numbers[at] == ({value} if value == value else set())
