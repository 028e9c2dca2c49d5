"""No message shows a secret, however the server echoes it."""

from __future__ import annotations

import string

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.transport.answers import excerpt, refusal
from evaluator.transport.redaction import SHORTEST, Secrets, secrets_of
from lab.faults import Fault

from .calling import TOKEN, read_error

# "Zq" occurs in no message of ours, so that a match is a leak, not a coincidence.
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
def test_a_token_that_the_server_echoes_is_masked(fault):
    message = read_error(fault, token=TOKEN)

    assert TOKEN.lower() not in message.lower()
    assert "***" in message or fault.status == 302
