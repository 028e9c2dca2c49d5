"""A question that is too large is asked in pieces: which, how often, and until when."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import SourceError, TooMuchError
from evaluator.sources.asking.listing import Listing
from evaluator.sources.asking.pieces import Patience, Span, in_pieces
from evaluator.sources.asking.samples import Samples, Sizes
from evaluator.sources.profiles import PROFILES
from evaluator.sources.prometheus import PrometheusSource
from evaluator.sources.surroundings import SurroundingsSource
from evaluator.transport.client import Client
from lab.faults import Fault, Handler, Request, serving
from tests.queries import series_of

from ..prometheus_answers import calls, labels, matrix, seconds, series, success
from .prometheus_reading import no_sleep

PROFILE = PROFILES["pgverdict"]
START, END = 1790000000.0, 1790003600.0
IDS = [str(number) for number in range(40)]
WHOLE = [Samples(tuple(IDS), Span(START, END))]


def refuse(piece):
    raise TooMuchError("too much", slow=False)


@given(
    count=st.integers(1, 60),
    length=st.integers(120, 20_000),
    limit=st.integers(2, 40),
    longest=st.integers(4000, 30_000),
)
def test_each_query_and_each_moment_is_asked_for_once(count, length, limit, longest):
    ids = tuple(str(number) for number in range(count))
    sizes, answered = Sizes(), []

    def ask(piece):
        span = piece.span
        if len(piece.ids) > limit or span.end - span.start > longest:
            refuse(piece)
        answered.append(piece)

    whole = [Samples(ids, Span(0.0, float(length))) for _ in range(3)]
    list(in_pieces(whole, ask, Patience(), sizes))

    for moment in (0.0, length / 3, float(length)):
        at = round(moment, 3)
        asked = [
            one
            for piece in answered
            if piece.span.start <= at <= piece.span.end
            for one in piece.ids
        ]
        assert sorted(asked) == sorted(3 * ids)


def test_what_was_refused_once_is_not_asked_for_again():
    refused = []

    def ask(piece):
        if len(piece.ids) > 7:
            refused.append(piece)
            refuse(piece)

    whole = [Samples(tuple(IDS), Span(START, END))] * 50
    pieces = list(in_pieces(whole, ask, Patience(), Sizes()))

    assert len(refused) == 3
    assert len(pieces) == 50 * 8


def test_a_server_that_limits_the_time_is_asked_for_many_queries_at_once():
    def ask(piece):
        if piece.span.end - piece.span.start > 1000:
            refuse(piece)

    pieces = list(
        in_pieces([Samples(tuple(IDS), Span(START, END))] * 5, ask, Patience(), Sizes())
    )

    # One query was tried alone, over half of the time, before that was known.
    assert sum(len(part.piece.ids) == len(IDS) for part in pieces) >= 4 * 4


def test_a_slow_refusal_cuts_more_and_is_borne_a_few_times_only():
    asked = []

    def ask(piece):
        asked.append(len(piece.ids))
        raise TooMuchError("nothing for 30 s", slow=True)

    with pytest.raises(SourceError, match="nothing for 30 s; smaller questions were"):
        list(
            in_pieces([Samples(tuple(IDS), Span(START, END))], ask, Patience(), Sizes())
        )

    assert asked[:3] == [40, 20, 10]
    assert len(asked) <= 6


def test_a_plain_refusal_ends_after_a_few_dozen_questions():
    asked = []

    def ask(piece):
        asked.append(piece)
        refuse(piece)

    with pytest.raises(SourceError, match="too much; smaller questions were refused"):
        list(in_pieces([Samples(tuple(IDS), Span(0.0, 1e9))], ask, Patience(), Sizes()))

    assert len(asked) <= 48


def test_too_many_pieces_are_an_error_that_names_what_to_change():
    def ask(piece):
        if piece.span.end - piece.span.start > 130:
            refuse(piece)

    with pytest.raises(SourceError, match=r"more than 5000 questions .* selector"):
        list(
            in_pieces(
                [Samples(tuple(IDS), Span(0.0, 9e5))] * 90, ask, Patience(), Sizes()
            )
        )


def test_another_error_on_the_way_comes_with_the_first_refusal():
    def ask(piece):
        if len(piece.ids) > 20:
            refuse(piece)
        raise SourceError("answered 403")

    with pytest.raises(SourceError, match="too much; asked for less, answered 403"):
        list(in_pieces([Samples(tuple(IDS), Span(START, END))], ask, Patience()))


@given(st.text(st.characters(codec="ascii", exclude_characters="\n"), max_size=8))
def test_each_query_id_is_in_one_piece_of_a_list(queryid):
    whole = Listing(("a",), Span(START, END), "queryid")
    level = [whole]

    for _ in range(2):
        level = [
            half
            for piece in level
            for half in (piece.smaller() if not piece.exactly else [piece])
        ]
        chosen = [piece for piece in level if matches(piece, queryid)]
        assert len(chosen) == 1


def matches(piece: Listing, queryid: str) -> bool:
    (matcher,) = piece.matchers
    found = re.fullmatch(r'queryid=~"(.*)"', matcher)
    assert found is not None
    return re.fullmatch(found[1], queryid) is not None


def test_pieces_of_a_grid_are_on_the_grid():
    pieces = [Span(100.0, 1000.0, 7.0)]
    for _ in range(3):
        pieces = [half for one in pieces for half in one.smaller() or [one]]

    grid = [
        at for piece in pieces for at in range(int(piece.start), int(piece.end) + 1, 7)
    ]
    assert grid == list(range(100, 1001, 7))


class Limited:
    """A server with 40 queries that refuses what is too much for it.

    Args:
        refusal: its answer then.
        most: queries; longest: seconds; listed: series of a list.
    """

    def __init__(self, refusal, *, most=1000, longest=1e9, listed=1000):
        self.requests: list[Request] = []
        self._refusal = refusal
        self._most, self._longest, self._listed = most, longest, listed
        server = self

        class Answering(Handler):
            def respond(self, request):
                server.requests.append(request)
                server.answer_to(request).send(self)

        self.serving = serving(Answering)

    def answer_to(self, request):
        if request.path.endswith("series"):
            return self._list(request)
        query = request.value("query")
        length = re.search(r"\[(\d+)ms\]", query)
        assert length is not None
        ids, span = chosen(query), int(length[1]) / 1000
        if len(ids) > self._most or span > self._longest + 2:
            return self._refusal
        until = float(request.value("time"))
        samples = [
            (at, f"{at - START}")
            for at in range(int(START), int(END) + 1, 60)
            if until - span <= at <= until
        ]
        kind = calls if "calls" in query else seconds
        known = [] if "rows" in query else ids
        return Fault(body=matrix(*(kind(*samples, queryid=one) for one in known)))

    def _list(self, request):
        form = dict(request.form)
        found = [
            labels(selector.partition("{")[0], one)
            for name, selector in request.form
            if name == "match[]" and selector.partition("{")[0] in PROFILE.counters
            for one in chosen(selector)
        ]
        span = float(form["end"]) - float(form["start"])
        too_much = len(found) > self._listed or span > self._longest + 2
        return self._refusal if too_much else Fault(body=success(found))


def chosen(selector):
    """The query ids that a selector matches."""
    pattern = re.search(r'queryid=~"(.*?)"', selector)
    if pattern is None:
        return IDS
    return [one for one in IDS if re.fullmatch(pattern[1], one)]


ERROR = {"status": "error", "error": "zu viel", "errorType": "execution"}
REFUSALS = {
    "422": Fault(422, ERROR),
    "422 of VictoriaMetrics": Fault(422, {**ERROR, "errorType": "422"}),
    "413": Fault(413, "Request Entity Too Large"),
    "414": Fault(414, "URI Too Long"),
    "429": Fault(429, {**ERROR, "errorType": "too_many_requests"}),
    "400 with a reason": Fault(400, ERROR),
    "500 with a reason": Fault(500, {"error": "trop d’échantillons"}),
    "502": Fault(502, "<html><title>Bad Gateway</title></html>"),
    "503 of a time-out": Fault(503, {**ERROR, "errorType": "timeout"}),
    "504": Fault(504, "Gateway Time-out"),
    "broken off": Fault(200, matrix(), half=True),
    "no answer in time": Fault(delay=0.4),
    "a part and a warning": Fault(
        200, success([], warnings=["results truncated due to limit"])
    ),
    "an error behind the answer": Fault(
        200, '{"status":"success","data":{}}{"status":"error","errorType":"422"}'
    ),
}


@pytest.mark.parametrize(
    ("refusal", "limit"),
    [
        *((refusal, {"most": 21}) for refusal in REFUSALS),
        *((refusal, {"longest": 1900}) for refusal in ("422", "504")),
    ],
)
def test_whatever_a_server_says_a_smaller_question_is_answered(refusal, limit):
    server = Limited(REFUSALS[refusal], **limit)

    with server.serving as url:
        silence = 0.3 if REFUSALS[refusal].delay else 20.0
        client = Client("prometheus", url, timeout=(5.0, silence), sleep=no_sleep)
        found = PrometheusSource(client, PROFILE).read(START, END)

    assert [one.key.queryid for one in series_of(found)] == sorted(IDS)
    for one in series_of(found):
        assert one.calls.tolist() == [float(at) for at in range(0, 3601, 60)]
    assert found.quality.warnings == ()


@pytest.mark.parametrize(("refusal", "listed"), [("422", 79), ("413", 40), ("504", 12)])
def test_a_list_of_series_that_is_too_long_is_asked_for_in_pieces(refusal, listed):
    server = Limited(REFUSALS[refusal], listed=listed)

    with server.serving as url:
        client = Client("prometheus", url, sleep=no_sleep)
        found = PrometheusSource(client, PROFILE).read(START, END)

    assert [one.key.queryid for one in series_of(found)] == sorted(IDS)


@pytest.mark.parametrize(
    "plain", [Fault(403, "no"), Fault(404, "?"), Fault(501, "?"), Fault(500, "?")]
)
def test_what_is_refused_for_another_reason_is_asked_for_once(plain):
    server = Limited(plain, most=11)

    with server.serving as url:
        client = Client("prometheus", url, sleep=no_sleep)
        with pytest.raises(SourceError):
            PrometheusSource(client, PROFILE).read(START, END)

    assert len(server.requests) == 2


@pytest.mark.parametrize("name", [PROFILE.started, PROFILE.plan_info])
def test_what_may_explain_a_verdict_is_asked_for_in_pieces_too(name):
    def answer_to(request):
        form = dict(request.form)
        raw = re.search(r"^(\w+)\[(\d+)ms\]$", form.get("query", ""))
        end = float(form["time"] if raw else form["end"])
        start = end - int(raw[2]) / 1000 if raw else float(form["start"])
        if end - start > 1000:
            return Fault(422, ERROR)
        if request.path.endswith("series"):
            return Fault(body=success([labels(PROFILE.query_info, fingerprint="f")]))
        step = 10.0 if raw else float(form["step"])
        first = 10.0 * math.ceil(start / 10) if raw else start
        samples = [(at, "1") for at in np.arange(first, end + 0.1, step).tolist()]
        if raw and raw[1] != name:
            return Fault(body=matrix())
        return Fault(body=matrix(series(name, *samples)))

    class Answering(Handler):
        def respond(self, request):
            answer_to(request).send(self)

    with serving(Answering) as url:
        source = SurroundingsSource(
            Client("prometheus", url, sleep=no_sleep), PROFILE, context={"CPU": "x"}
        )
        found = source.read(START, END, instances=["db1:9719"], step=30.0)

    assert found.notes == ()
    assert len(found.fingerprints) == 1
    known = found.surroundings
    assert known.context[0].times.tolist() == np.arange(START, END + 1, 30).tolist()
    if name == PROFILE.started:
        assert known.starts[0].times.tolist() == np.arange(START, END + 1, 10).tolist()
    else:
        assert [(one.first, one.last) for one in known.plans] == [(START, END)]
