"""What a client sends, to whom, and what it refuses to send."""

from __future__ import annotations

import pytest

from evaluator.errors import ConfigurationError, SourceError
from evaluator.transport.client import Client
from lab.faults import CERTIFICATE, Fault, FaultServer, Handler, serving

from .calling import OK, TOKEN, client


@pytest.fixture
def tls_server():
    """A server whose certificate only those accept who were given it."""

    class Page(Handler):
        def respond(self, request):  # noqa: ARG002
            Fault(body=b"ok").send(self)

    with serving(Page, certificate=CERTIFICATE) as url:
        yield url


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


def test_a_file_of_trusted_certificates_that_is_missing_is_reported():
    with (
        Client("grafana", "https://127.0.0.1:1", verify="/nonexistent.pem") as http,
        pytest.raises(SourceError, match="file of trusted certificates"),
    ):
        http.get("/x")


def test_the_certificate_is_checked_unless_configured_otherwise(tls_server):
    with (
        Client("grafana", tls_server, attempts=1) as strict,
        pytest.raises(SourceError, match="TLS does not work: certificate not accepted"),
    ):
        strict.get("/x")

    for verify in (False, str(CERTIFICATE)):
        with Client("grafana", tls_server, verify=verify) as lenient:
            assert lenient.get("/x").body == b"ok"
