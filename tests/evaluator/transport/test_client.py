"""How a client behaves on a loopback server that goes wrong on purpose."""

import string
from email.utils import formatdate

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import (
    ConfigurationError,
    RefusedError,
    SourceError,
    UnsureWriteError,
)
from evaluator.transport.answers import Answer, excerpt, refusal
from evaluator.transport.client import Client
from evaluator.transport.redaction import SHORTEST, Secrets, secrets_of
from lab.faults import CERTIFICATE, Fault, FaultServer, Handler, serving

OK = Fault(body={"ok": True})
TOKEN = "glsa_Zx81LongAndSecret"  # noqa: S105 - made up


@pytest.fixture
def tls_server():
    """A server whose certificate only those accept who were given it."""

    class Page(Handler):
        def respond(self, request):  # noqa: ARG002
            Fault(body=b"ok").send(self)

    with serving(Page, certificate=CERTIFICATE) as url:
        yield url


class Naps:
    """A sleep that only writes down how long it should have slept."""

    def __init__(self):
        self.seconds = []

    def __call__(self, seconds):
        self.seconds.append(seconds)


def client(server, **settings):
    settings.setdefault("sleep", Naps())
    settings.setdefault("timeout", (1.0, 0.3))
    return Client("grafana", server.url, **settings)


def read_error(*faults, **settings):
    """The message a read ends with."""
    with (
        FaultServer(*faults) as server,
        client(server, **settings) as http,
        pytest.raises(SourceError) as caught,
    ):
        http.get("/api/x")
    assert not isinstance(caught.value, UnsureWriteError)
    return str(caught.value)


def write_error(*faults, **settings):
    """The error a write ends with, and how often it was sent."""
    with (
        FaultServer(*faults) as server,
        client(server, **settings) as http,
        pytest.raises(SourceError) as caught,
    ):
        http.post_json("/api/x", {"text": "x"})
    return caught.value, len(server.requests)


def test_a_read_sends_its_parameters_and_gives_the_body():
    with FaultServer(OK, OK) as server, client(server, token=TOKEN) as http:
        http.get("/a", [("tags", "a:b & c"), ("tags", "d")])
        answer = http.post_form("/b", [("query", 'up{x="é"}[5m]')])

    assert answer.json(dict[str, bool]) == {"ok": True}
    assert server.requests[0].form == (("tags", "a:b & c"), ("tags", "d"))
    assert server.requests[1].value("query") == 'up{x="é"}[5m]'
    assert server.requests[1].headers["Authorization"] == f"Bearer {TOKEN}"


def test_a_path_prefix_of_the_address_is_kept():
    with (
        FaultServer(OK) as server,
        Client("mimir", server.url + "/prometheus/") as http,
    ):
        http.get("/api/v1/query")

    assert server.requests[0].path == "/prometheus/api/v1/query"


def test_headers_such_as_the_tenant_go_with_each_request():
    with (
        FaultServer(OK) as server,
        client(server, headers={"X-Scope-OrgID": "shop"}) as http,
    ):
        http.get("/x")

    assert server.requests[0].headers["X-Scope-OrgID"] == "shop"


def test_a_user_and_password_in_the_address_are_used_and_not_shown():
    with FaultServer(OK) as server:
        address = server.url.replace("://", "://reader:p%40ss word@")
        with Client("prometheus", address) as http:
            http.get("/x")

    assert http.url == server.url
    assert server.requests[0].headers["Authorization"] == (
        "Basic cmVhZGVyOnBAc3Mgd29yZA=="  # reader:p@ss word
    )


def test_credentials_of_the_netrc_file_are_left_alone(tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password else\n")
    monkeypatch.setenv("NETRC", str(netrc))

    with FaultServer(OK) as server, client(server) as http:
        http.get("/x")

    assert "Authorization" not in server.requests[0].headers


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_read_is_asked_again_where_that_may_help(status):
    naps = Naps()
    with (
        FaultServer(Fault(status), Fault(status), OK) as server,
        client(server, sleep=naps) as http,
    ):
        answer = http.get("/x")

    assert answer.json(dict[str, bool]) == {"ok": True}
    assert naps.seconds == [0.5, 1.0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 500])
def test_a_read_is_not_asked_again_where_that_cannot_help(status):
    message = read_error(Fault(status, {"message": "no such luck"}), OK)

    assert f"answered {status}" in message
    assert "no such luck" in message
    assert "tried" not in message


def test_a_read_is_given_up_after_so_many_attempts():
    message = read_error(Fault(503, "down for a while", times=0), attempts=3)

    assert "answered 503 Service Unavailable: down for a while" in message
    assert message.endswith("(tried 3 times)")


def test_the_time_that_the_server_asks_for_is_waited():
    naps = Naps()
    with (
        FaultServer(Fault(429, headers={"Retry-After": "7"}), OK) as server,
        client(server, sleep=naps) as http,
    ):
        http.get("/x")

    assert naps.seconds == [7.0]


def test_a_date_to_come_back_at_is_waited_for():
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


def test_a_host_name_that_nobody_knows_is_told_so():
    with (
        Client("grafana", "http://nowhere.invalid", sleep=Naps()) as http,
        pytest.raises(SourceError, match="the host name is not known"),
    ):
        http.get("/x")


def test_silence_ends_in_a_message_and_is_not_repeated():
    message = read_error(Fault(delay=1.0), OK)

    assert "said nothing for 0.3 s" in message
    assert "tried" not in message


def test_an_answer_that_trickles_ends_at_the_deadline():
    message = read_error(
        Fault(body=b"x" * 200, trickle=0.05), timeout=(1.0, 0.3), deadline=0.4
    )

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

    assert "302 Found and sends us to https://sso.example/login, which" in message
    assert "login page" in message


def test_a_page_instead_of_json_is_shown_by_its_title():
    page = "<!DOCTYPE html><html><head><title>Please\n log in</title></head></html>"
    with FaultServer(Fault(body=page)) as server, client(server) as http:
        answer = http.get("/x")

        with pytest.raises(SourceError) as caught:
            answer.json(dict[str, object])

    assert str(caught.value) == (
        f"grafana (GET {server.url}/x): answered something that is no JSON: "
        "an HTML page, “Please log in”"
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "answered something that is no JSON: nothing at all"),
        (b"\xff\xfe", "answered something that is no JSON"),
        (b"[1]", "answered JSON of an unexpected shape"),
        (b'"' + b"x" * 5000 + b'"', "x …"),
    ],
)
def test_json_of_another_kind_is_told_with_a_short_excerpt(body, said):
    with pytest.raises(SourceError) as caught:
        Answer(body, "here").json(dict[str, object])

    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_write_that_was_refused_is_certain():
    error, sent = write_error(Fault(403, {"message": "Permission denied"}), OK)

    assert isinstance(error, RefusedError)
    assert "403 Forbidden: Permission denied; the token or user is known but" in str(
        error
    )
    assert sent == 1


def test_a_write_that_reached_nobody_is_certain():
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


@pytest.mark.parametrize(
    "address",
    [
        "localhost:9090",
        "ftp://localhost",
        "http://",
        "http://[::1",
        "http://localhost:port",
        "http://localhost/?token=" + TOKEN,
        "",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_showing_it(address):
    with pytest.raises(ConfigurationError) as caught:
        Client("grafana", address)

    assert str(caught.value).startswith("grafana: url: expected an address")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("token", ["two\nlines", "gänse", "a\x00b"])
def test_a_token_that_no_header_can_carry_is_refused_without_showing_it(token):
    with pytest.raises(ConfigurationError) as caught:
        Client("grafana", "http://localhost", token=token)

    assert token not in str(caught.value)
    assert "grafana: token: holds a character" in str(caught.value)


def test_a_file_of_trusted_certificates_that_is_missing_is_told():
    with (
        Client("grafana", "https://127.0.0.1:1", verify="/nonexistent.pem") as http,
        pytest.raises(SourceError, match="file of trusted certificates"),
    ):
        http.get("/x")


def test_the_certificate_is_checked_unless_told_otherwise(tls_server):
    with (
        Client("grafana", tls_server, attempts=1) as strict,
        pytest.raises(SourceError, match="TLS does not work: certificate not accepted"),
    ):
        strict.get("/x")

    for verify in (False, str(CERTIFICATE)):
        with Client("grafana", tls_server, verify=verify) as lenient:
            assert lenient.get("/x").body == b"ok"


# "Zq" is in no sentence of ours, so that a find is a leak and no coincidence.
secret_words = st.text(
    st.sampled_from(string.ascii_letters + string.digits + "-_.:/@%&<>\"'+= "),
    min_size=SHORTEST,
    max_size=40,
).map(lambda word: f"Zq{word.strip()}Zq")


@given(word=secret_words, status=st.integers(300, 599), before=st.text(max_size=220))
def test_no_refusal_shows_a_secret_however_the_server_echoes_it(word, status, before):
    secrets = secrets_of(word, ("reader", word), {"X-Api-Key": word})
    text = f"{before} {word}!".encode(errors="replace")
    bodies = [
        text,
        b"<html>" + text + b"</html>",
        msgspec.json.encode({"error": text.decode()}),
    ]

    for body in bodies:
        location = {"location": f"http://host/{word}?{word}"}
        shown = refusal(status, location, body, secrets) + excerpt(body, secrets)

        assert word not in shown
        assert " ".join(word.split()) not in shown


def test_secrets_are_hidden_in_every_usual_spelling():
    secrets = Secrets(['p&ss "w"<rd'])

    for shown in [
        'p&ss "w"<rd',
        "p%26ss%20%22w%22%3Crd",
        "p%26ss+%22w%22%3Crd",
        "p&amp;ss &quot;w&quot;&lt;rd",
        'p&ss \\"w\\"<rd',
    ]:
        assert secrets.hide(f"<{shown}>") == "<***>"


def test_no_part_of_a_secret_is_left_when_a_page_is_shown_without_its_tags():
    page = b"<html>wrong password: Zq<b>middle</b>Zq</html>"

    assert "middle" not in excerpt(page, Secrets(["Zq<b>middle</b>Zq"]))


def test_a_secret_with_spaces_is_hidden_where_the_server_wraps_lines():
    assert "staple" not in excerpt(
        b"correct\nhorse staple", Secrets(["correct horse staple"])
    )


def test_a_secret_is_hidden_before_the_excerpt_is_cut():
    body = b"x" * 190 + TOKEN.encode() + b"y" * 100

    assert TOKEN[:8] not in excerpt(body, Secrets([TOKEN]))


@pytest.mark.parametrize(
    "fault",
    [
        Fault(401, {"message": f"Invalid API key {TOKEN}"}),
        Fault(500, f"<html>trace: Bearer {TOKEN}</html>"),
        Fault(302, headers={"Location": f"http://{TOKEN}/{TOKEN}"}),
    ],
)
def test_a_token_that_the_server_echoes_is_blotted_out(fault):
    message = read_error(fault, token=TOKEN)

    assert TOKEN.lower() not in message.lower()
    assert "***" in message or fault.status == 302
