"""Which calls a client repeats, how long it waits, and when it gives up."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from evaluator.errors import RefusedError, SourceError, UnsureWriteError
from evaluator.transport.client import Client
from lab.faults import Fault, FaultServer

from .calling import OK, Naps, client, read_error, write_error


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_read_is_retried_where_that_may_help(status):
    naps = Naps()
    with (
        FaultServer(Fault(status), Fault(status), OK) as server,
        client(server, sleep=naps) as http,
    ):
        answer = http.get("/x")

    assert answer.json(dict[str, bool]) == {"ok": True}
    assert naps.seconds == [0.5, 1.0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 500])
def test_a_read_is_not_retried_where_that_cannot_help(status):
    message = read_error(Fault(status, {"message": "no such luck"}), OK)

    assert f"answered {status}" in message
    assert "no such luck" in message
    assert "tried" not in message


def test_a_read_is_given_up_after_so_many_attempts():
    message = read_error(Fault(503, "down for a while", times=0), attempts=3)

    assert "answered 503 Service Unavailable: down for a while" in message
    assert message.endswith("(tried 3 times)")


def test_a_retry_waits_as_long_as_the_server_demands():
    naps = Naps()
    with (
        FaultServer(Fault(429, headers={"Retry-After": "7"}), OK) as server,
        client(server, sleep=naps) as http,
    ):
        http.get("/x")

    assert naps.seconds == [7.0]


def test_a_retry_waits_until_the_date_that_the_server_names():
    naps = Naps()
    past = formatdate(0, usegmt=True)
    with (
        FaultServer(Fault(503, headers={"Retry-After": past}), OK) as server,
        client(server, sleep=naps) as http,
    ):
        http.get("/x")

    assert naps.seconds == [0.0]


def test_a_longer_wait_than_the_deadline_allows_ends_the_call_at_once():
    naps = Naps()
    message = read_error(
        Fault(429, headers={"Retry-After": "3600"}), OK, sleep=naps, deadline=60.0
    )

    assert naps.seconds == []
    assert "429 Too Many Requests" in message
    assert "the next attempt would have to wait 3600 s" in message


def test_a_server_that_is_not_there_is_named_with_the_reason():
    with FaultServer() as server:
        pass

    naps = Naps()
    with client(server, sleep=naps) as http, pytest.raises(SourceError) as caught:
        http.get("/x")

    assert str(caught.value) == (
        f"grafana (GET {server.url}/x): could not be reached: Connection refused "
        "(tried 3 times)"
    )
    assert naps.seconds == [0.5, 1.0]


def test_an_unknown_host_name_is_reported():
    with (
        Client("grafana", "http://nowhere.invalid", sleep=Naps()) as http,
        pytest.raises(SourceError, match="the host name is not known"),
    ):
        http.get("/x")


def test_silence_ends_in_a_message_and_is_not_repeated():
    message = read_error(Fault(delay=1.0), OK)

    assert "sent nothing for 0.3 s" in message
    assert "tried" not in message


def test_an_answer_that_trickles_ends_at_the_deadline():
    message = read_error(Fault(body=b"x" * 200, trickle=0.05), deadline=0.4)

    assert "did not finish its answer in time" in message


def test_a_dropped_connection_is_tried_again():
    with FaultServer(Fault(drop="before"), OK) as server, client(server) as http:
        http.get("/x")

    assert len(server.requests) == 2


def test_half_a_body_is_never_taken_for_a_whole_one():
    half = Fault(body={"status": "success", "data": [1, 2, 3]}, half=True, times=0)

    assert "broke off in the middle of its answer (tried 3 times)" in read_error(half)


def test_a_redirect_is_not_followed_and_shows_no_query():
    message = read_error(
        Fault(302, headers={"Location": "https://sso.example/login?secret=1"}), OK
    )

    assert "302 Found and redirects to https://sso.example/login, which" in message
    assert "login page" in message


def test_a_write_that_was_refused_is_certain():
    error, sent = write_error(Fault(403, {"message": "Permission denied"}), OK)

    assert isinstance(error, RefusedError)
    assert "403 Forbidden: Permission denied; the token or user is known but" in str(
        error
    )
    assert sent == 1


def test_a_write_that_could_not_be_sent_is_certain():
    with FaultServer() as server:
        pass

    with client(server) as http, pytest.raises(SourceError) as caught:
        http.post_json("/x", {})

    assert type(caught.value) is SourceError


@pytest.mark.parametrize(
    "fault",
    [
        Fault(drop="after"),
        Fault(delay=1.0),
        Fault(body={"id": 1, "message": "Annotation added"}, half=True),
        Fault(500),
        Fault(502),
        Fault(504),
    ],
    ids=["dropped", "silent", "half", "500", "502", "504"],
)
def test_a_write_without_an_answer_is_unsure_and_never_sent_twice(fault):
    error, sent = write_error(fault, OK)

    assert isinstance(error, UnsureWriteError)
    assert sent == 1


def test_a_busy_server_is_not_written_to_twice():
    error, sent = write_error(Fault(429, headers={"Retry-After": "1"}), OK)

    assert isinstance(error, RefusedError)
    assert (error.status, sent) == (429, 1)
