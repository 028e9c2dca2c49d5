"""Which JSON is an answer of Prometheus with raw samples."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import SourceError
from evaluator.sources.matrix import decode_matrix
from evaluator.transport.answers import Answer

from ..prometheus_answers import calls, matrix, success
from .test_readings import text


def decode(value):
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    series, warnings = decode_matrix(Answer(body, "here"))
    return list(series), warnings


def error(value) -> str:
    with pytest.raises(SourceError) as caught:
        decode(value)
    return str(caught.value)


@given(
    st.lists(
        st.floats(allow_nan=True, allow_infinity=True).map(
            lambda value: (value, text(value))
        )
    )
)
def test_every_float_comes_back_as_it_was_written(values):
    samples = [(float(time), written) for time, (_, written) in enumerate(values)]

    ((series,), warnings) = decode(matrix(calls(*samples)))

    assert [repr(v) for v in series.values.tolist()] == [repr(v) for v, _ in values]
    assert series.times.tolist() == [time for time, _ in samples]
    assert warnings == ()


def test_warnings_are_kept_and_infos_are_not_warnings():
    _, warnings = decode(matrix(warnings=["a store is down"], infos=["not a counter?"]))

    assert warnings == ("a store is down",)


def test_a_cluster_that_says_its_answer_is_partial_warns():
    _, warnings = decode(matrix(isPartial=True))

    assert warnings == ("the server says that its answer is partial",)


def test_histograms_hold_no_samples_of_ours():
    histogram = {"metric": {"__name__": "h"}, "histograms": [[10, {"count": "1"}]]}

    ((series,), _) = decode(matrix(histogram))

    assert series.times.size == 0


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (
            {"resultType": "vector", "result": [{"metric": {}, "value": [1, "2"]}]},
            "vector",
        ),
        ({"resultType": "scalar", "result": [1, "2"]}, "scalar"),
        ({"resultType": "string", "result": [1, "x"]}, "string"),
    ],
)
def test_anything_but_a_matrix_is_refused_by_its_name(data, kind):
    message = error(success(data))

    assert f"here: answered a {kind} instead of a matrix" in message
    assert "a range selector such as metric[1h]" in message


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"", "something that is not JSON: nothing at all"),
        (b"<html><body>hello</body></html>", "not JSON: an HTML page, “hello”"),
        (b'{"status": "success", "data": {"resultTy', "something that is not JSON"),
        ({"message": "not Prometheus"}, "JSON of an unexpected shape"),
        ([], "JSON of an unexpected shape"),
        (
            {"status": "error", "errorType": "bad_data", "error": "parse error"},
            'an error: {"status":"error","errorType":"bad_data","error":"parse error"}',
        ),
        (success(None), "data of an unexpected shape"),
        (success({"resultType": "matrix"}), "data of an unexpected shape"),
        (matrix({"values": []}), "series of an unexpected shape"),
        (matrix(calls((1, "ten"))), "a sample of {"),
        (matrix({"metric": {}, "values": [[1, "2", "3"]]}), "series of an unexpected"),
        (matrix(calls((2, "1"), (1, "2"))), "not in the order of time"),
        (matrix(calls((1, "1"), (2, "2"), (1, "1"))), "not in the order of time"),
    ],
)
def test_nonsense_is_reported_with_the_place_and_an_excerpt(value, said):
    message = error(value)

    assert message.startswith("here: ")
    assert said in message


@pytest.mark.parametrize(
    "values",
    [
        '[[1,"2","3"],["4"]]',
        '[[1,"2","3"],[4]]',
        '[[1,2,"3"],["4"]]',
        '[[1,"2,3"],[4,"5"]]',
        '[1,"2"]',
        '[[[1,"2"]]]',
        '[[1,""]]',
        '[[1,"1-2"]]',
        '[[1,"2"],[]]',
    ],
)
def test_samples_that_are_not_pairs_are_refused_however_they_add_up(values):
    metric = '{"__name__":"pg_stat_statements_calls_total"}'
    result = f'[{{"metric":{metric},"values":{values}}}]'
    body = f'{{"status":"success","data":{{"resultType":"matrix","result":{result}}}}}'

    assert error(body.encode()).startswith("here: ")


numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr)


@given(st.lists(numbers, max_size=8), st.sampled_from(["", " ", "\n\t"]))
def test_blanks_between_samples_change_nothing(values, blank):
    samples = ("," + blank).join(
        f'[{blank}{time}{blank},"{value}"{blank}]' for time, value in enumerate(values)
    )
    result = f'[{{"metric":{{}},"values":[{samples}]}}]'
    body = f'{{"status":"success","data":{{"resultType":"matrix","result":{result}}}}}'

    ((series,), _) = decode(body.encode())

    assert [repr(value) for value in series.values.tolist()] == values
    assert series.times.tolist() == list(range(len(values)))


def test_series_that_were_scraped_together_share_their_times():
    samples = [(10.0, "1"), (20.0, "2")]

    (found, _) = decode(matrix(calls(*samples), calls(*samples, queryid="2")))

    assert found[0].times is found[1].times
